"""Released minus true counts as maps with a diverging scale; for the curator only."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cells import marginal, merged, shaped
from dpportal.charts.counted_word import counted_word
from dpportal.charts.counts import MAX_NUMBERS
from dpportal.charts.panels import grid, heat_map, height_of, layout_of, name_axes
from dpportal.charts.style import DIVERGING, Display, Figure, finished, hover, series_names
from mechanisms.domain import Domain


def difference_figure(
    domain: Domain, *, raw: np.ndarray, true: np.ndarray, half_width: int | None, unit: str = ""
) -> Figure:
    """Where the noisy counts are too high and where too low, of two or more columns.

    raw, true: (domain.size,) in cell order. half_width: of one noisy count's 95 % interval. Cells are merged and
    columns summed over as in `counts_figure`; a merged mark shows the difference of the sums.
    """
    series = shaped(domain, {"noisy": raw, "true": true})
    # As many marks as in the maps of the counts, so that one can be found in the other.
    panels = layout_of(domain, len(series_names()), MAX_NUMBERS)
    cells = panels.cells()
    tables = marginal(series, (*panels.panel_axes, *panels.axes))
    figure = grid(panels, cells, [_("Noisy − true")])
    interval = half_width if panels.single_cells else None
    unit = unit or counted_word()
    text = hover(unit, interval, "%{z:+,}", "%{y}, %{x}")
    for row, cell in enumerate(cells):
        z = merged(tables["noisy"][cell], panels.widths) - merged(tables["true"][cell], panels.widths)
        figure.add_trace(heat_map(panels, _("Noisy − true"), z, text), row + 1, 1)
    name_axes(figure, panels, len(cells))
    reach = max(1, *(int(np.abs(trace.z).max()) for trace in figure.data))
    bar = {"title": {"text": unit, "font": {"color": "var(--muted)", "size": 12}}, "tickformat": ","}
    axis = {"cmin": -reach, "cmax": reach, "colorscale": DIVERGING, "colorbar": bar}
    figure.update_layout(coloraxis=axis, margin={"t": 64})
    return finished(
        figure,
        title=_("Where the noise fell"),
        caption=_caption(half_width, unit),
        display=Display(height=height_of(len(cells)), is_map=True),
    )


def _caption(half_width: int | None, unit: str) -> str:
    text = _(
        "Noisy counts that are too high are on one side of the scale, those that are too low on the other."
    )
    if half_width is None:
        return text
    band = _("Differences up to %(half_width)s %(unit)s are within the margin (95 %%) of a single cell.")
    return text + " " + band % {"half_width": f"{half_width:,}", "unit": unit}
