"""Heat maps of two columns, and small multiples of them for further columns."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _
from plotly.subplots import make_subplots

from dpportal.charts.cell_names import cell_names
from dpportal.charts.cells import CountSeries, axes_and_panels, marginal, merged, merged_labels, widths_within
from dpportal.charts.partition import mark_blocks_2d
from dpportal.charts.style import hover, plain, plain_all, series_names
from dpportal.platform.listed_names import in_a_row, joint, listed
from mechanisms.domain import Domain

MAX_PANELS = 8
TICKS = 15
GAP_BELOW = 40
"""Up to so many cells on an axis the cells of a heat map are set apart by a thin gap."""


@dataclass(frozen=True)
class Panels:
    """What each panel shows: two columns drawn, some making panels, the rest summed over."""

    domain: Domain
    axes: tuple[int, ...]
    panel_axes: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def across(self) -> str:
        return self.domain.shown_names[self.axes[1]]

    @property
    def down(self) -> str:
        return self.domain.shown_names[self.axes[0]]

    @property
    def summed(self) -> list[str]:
        shown = {*self.axes, *self.panel_axes}
        return [name for axis, name in enumerate(self.domain.shown_names) if axis not in shown]

    @property
    def single_cells(self) -> bool:
        """Whether each mark is one released count."""
        return not self.summed and max(self.widths) == 1

    def cells(self) -> list[tuple[int, ...]]:
        """The cell of the panel columns that each row of panels stands for."""
        return list(itertools.product(*(range(self.domain.shape[axis]) for axis in self.panel_axes)))

    def name(self, cell: tuple[int, ...]) -> str:
        columns = (self.domain.attributes[axis] for axis in self.panel_axes)
        return joint(",").join(
            f"{plain(c.shown_name)}{joint(':')}{plain(cell_names(c)[i])}"
            for c, i in zip(columns, cell, strict=True)
        )

    def labels(self, position: int) -> list[str]:
        attribute = self.domain.attributes[self.axes[position]]
        return plain_all(merged_labels(attribute, self.widths[position], attribute.size))


def layout_of(domain: Domain, series: int, numbers: int) -> Panels:
    """Choose axes, panels and merged cells so that `series` series carry at most `numbers` numbers."""
    axes, panel_axes = axes_and_panels(domain.shape, MAX_PANELS)
    rows = int(np.prod([domain.shape[axis] for axis in panel_axes], dtype=int))
    widths = widths_within([domain.shape[axis] for axis in axes], numbers // (rows * series))
    return Panels(domain, axes, panel_axes, widths)


def heat_maps(
    panels: Panels,
    series: CountSeries,
    *,
    half_width: int | None,
    unit: str,
    partition: np.ndarray | None = None,
    is_switched: bool = False,
) -> go.Figure:
    """A row for each cell of the panel columns, a column for each series, one colour scale for all.

    is_switched: all series are in one column, where one of them is shown at a time.
    """
    cells = panels.cells()
    tables = marginal(series, (*panels.panel_axes, *panels.axes))
    columns = 1 if is_switched else len(tables)
    figure = grid(panels, cells, [""] if is_switched else [series_names()[kind] for kind in tables])
    for row, (column, (kind, counts)) in itertools.product(range(len(cells)), enumerate(tables.items())):
        interval = half_width if kind == "noisy" and panels.single_cells else None
        z = merged(counts[cells[row]], panels.widths)
        trace = heat_map(panels, series_names()[kind], z, hover(unit, interval, "%{z:,}", "%{y}, %{x}"))
        figure.add_trace(trace.update(meta=kind), row + 1, min(column + 1, columns))
    if partition is not None and not panels.summed:
        _mark_partition(figure, panels, cells, columns, partition)
    name_axes(figure, panels, len(cells))
    bar = {"title": {"text": unit, "font": {"color": "var(--muted)", "size": 12}}}
    highest = max(np.max(trace.z) for trace in figure.data)
    figure.update_layout(
        coloraxis={"cmin": 0, "cmax": max(1, int(highest)), "colorbar": bar}, margin={"t": 64}
    )
    return figure


def height_of(rows: int) -> int:
    """Pixels of a figure with so many rows of maps."""
    return 420 if rows == 1 else 120 + 230 * rows


def name_axes(figure: go.Figure, panels: Panels, rows: int) -> None:
    """Cells in declared order on both axes, named at the edge of the whole."""
    names = len(panels.labels(1))
    figure.update_xaxes(type="category", showline=False, nticks=TICKS if names > 2 * TICKS else 0)
    figure.update_yaxes(type="category", autorange="reversed")
    figure.update_xaxes(title_text=plain(panels.across), row=rows)
    figure.update_yaxes(title_text=plain(panels.down), col=1)


def _mark_partition(
    figure: go.Figure, panels: Panels, cells: list[tuple[int, ...]], series: int, partition: np.ndarray
) -> None:
    blocks = partition.reshape(panels.domain.shape).transpose(*panels.panel_axes, *panels.axes)
    for row, column in itertools.product(range(len(cells)), range(series)):
        mark_blocks_2d(figure, blocks[cells[row]], panels.widths, row * series + column + 1)


def grid(panels: Panels, cells: list[tuple[int, ...]], names: list[str]) -> go.Figure:
    """Room for a heat map of each named series, for each cell of the panel columns."""
    titles = [
        "<br>".join(filter(None, (panels.name(cell), f"<b>{name}</b>" if name else "")))
        for cell in cells
        for name in names
    ]
    figure = make_subplots(
        rows=len(cells),
        cols=len(names),
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=titles,
        horizontal_spacing=0.03,
        vertical_spacing=min(0.2, 0.3 / len(cells)),
    )
    return figure.update_annotations(font={"size": 13})


def heat_map(panels: Panels, name: str, z: np.ndarray, text: str) -> go.Heatmap:
    """One map. z: (down, across) numbers; text: at the pointer."""
    gap = 1 if max(z.shape) <= GAP_BELOW else 0
    return go.Heatmap(
        name=name,
        x=panels.labels(1),
        y=panels.labels(0),
        z=z.tolist(),
        coloraxis="coloraxis",
        xgap=gap,
        ygap=gap,
        hovertemplate=text + "<extra>%{fullData.name}</extra>",
    )


def panels_caption(panels: Panels, *, half_width: int | None, unit: str, shown: int) -> str:
    """What the heat maps show, and what was merged or summed to fit. shown: maps at a time."""
    sentences = [_("One colour scale for all panels.")] if shown > 1 else []
    if panels.summed:
        sentences.append(_("Summed over %(columns)s.") % {"columns": listed(panels.summed)})
    for name, width in zip((panels.down, panels.across), panels.widths, strict=True):
        if width > 1:
            text = _("Each mark sums %(width)s neighbouring cells of %(column)s.")
            sentences.append(text % {"width": f"{width:,}", "column": name})
    if half_width is None:
        sentences.append(_("This method's error depends on the data, so no margin is given."))
    elif panels.single_cells:
        text = _(
            "Each noisy count is within ± %(half_width)s %(unit)s of the true one "
            "with probability 95 %% or more."
        )
        sentences.append(text % {"half_width": f"{half_width:,}", "unit": unit})
    else:
        sentences.append(_("Margins belong to single cells and are in the table."))
    return in_a_row(sentences)
