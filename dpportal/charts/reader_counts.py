"""What readers see first of released counts: the chart that fits their shape, and one kind of count at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.cells import shaped
from dpportal.charts.counted_word import counted_word
from dpportal.charts.counts import MAX_STEPS, interval_caption, switched_figure
from dpportal.charts.group_traces import (
    MAX_BESIDE,
    MAX_GROUPED,
    MAX_GROUPS,
    TICKS,
    group_bars,
    group_line,
)
from dpportal.charts.own_cells import drawn_cells
from dpportal.charts.style import (
    Display,
    Figure,
    category_axis,
    finished,
    hover,
    people_axis,
    plain,
    plain_all,
)
from dpportal.platform.listed_names import in_a_row, joint
from mechanisms.domain import Attribute, Domain


def reader_figure(
    domain: Domain,
    *,
    raw: np.ndarray,
    counts: np.ndarray,
    half_width: int | None,
    partition: np.ndarray | None = None,
    margins: Sequence[int | None] | None = None,
) -> Figure:
    """Noisy counts; adjusted ones in their place at a reader's choice.

    raw, counts: (domain.size,) in cell order. half_width: of one noisy count's 95 % interval. margins: for each column
    that of the sum of one of its cells over the other columns; None: all cells are drawn, also of nobody. One column:
    bars or steps. Two, one of them with few cells: bars in groups, or a line for each group. Otherwise heat maps.
    """
    if margins is not None:
        drawn = drawn_cells(domain.attributes, raw.reshape(domain.shape), margins)
        domain, raw, counts = (
            Domain(drawn.attributes),
            *(drawn.of(each.reshape(domain.shape)).reshape(-1) for each in (raw, counts)),
        )
        figure = reader_figure(domain, raw=raw, counts=counts, half_width=half_width, partition=partition)
        return replace(figure, caption=in_a_row([figure.caption, drawn.caption]))
    axes = _grouped_by(domain) if partition is None else None
    if axes is None:
        return _one_at_a_time(
            switched_figure(domain, raw=raw, counts=counts, half_width=half_width, partition=partition)
        )
    along, groups = (domain.attributes[axis] for axis in axes)
    figure = go.Figure(layout={"barmode": "group", "legend": {"title": {"text": plain(groups.name)}}})
    for kind, values in shaped(domain, {"noisy": raw, "synthetic": counts}).items():
        shown = half_width if kind == "noisy" else None
        figure.add_traces(_traces(along, groups, values.transpose(axes), kind, shown))
    axis = category_axis(along.name, TICKS if along.size > 2 * TICKS else 0, along.size)
    figure.update_layout(xaxis=axis, yaxis=people_axis(counted_word()))
    title = _("Counts by %(columns)s") % {"columns": " × ".join(domain.names)}
    caption = interval_caption(half_width, counted_word())
    display = Display(is_counts=True, is_ordered=along.ordered)
    return _one_at_a_time(finished(figure, title=title, caption=caption, display=display))


def _grouped_by(domain: Domain) -> tuple[int, int] | None:
    """Of two columns, which one runs along the axis and which one makes groups; None where neither has few cells."""
    if len(domain.attributes) != 2:
        return None
    groups = min((1, 0), key=lambda axis: domain.shape[axis])
    along = domain.attributes[1 - groups]
    fits = along.size <= MAX_GROUPED or (along.ordered and along.size <= MAX_STEPS)
    most = MAX_BESIDE if along.size <= MAX_GROUPED else MAX_GROUPS
    return (1 - groups, groups) if domain.shape[groups] <= most and fits else None


def _traces(
    along: Attribute, groups: Attribute, values: np.ndarray, kind: str, half_width: int | None
) -> list[go.Bar | go.Scatter]:
    """Of one kind of count: bars in groups, or a line for each group. values: (cells of along, groups)."""
    labels, traces = plain_all(cell_names(along)), []
    for place, name in enumerate(plain_all(cell_names(groups))):
        of_group = (
            place,
            name,
            labels,
            values[:, place],
            half_width,
            f"{name}{joint(',')}{hover(counted_word(), half_width)}",
        )
        drawn = [group_bars(*of_group)] if along.size <= MAX_GROUPED else group_line(*of_group)
        traces += [trace.update(meta=kind) for trace in drawn]
    return traces


def _one_at_a_time(figure: Figure) -> Figure:
    """The same with adjusted counts hidden until they are chosen."""
    data = [{**trace, "visible": trace.get("meta") != "synthetic"} for trace in figure.json["data"]]
    layout = figure.json["layout"]
    meta = {**(layout.get("meta") or {}), "is_switched": True}
    return Figure(
        {**figure.json, "data": data, "layout": {**layout, "meta": meta}}, figure.caption, figure.title
    )
