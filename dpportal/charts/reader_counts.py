"""What readers see first of released counts: the chart that fits their shape, and one kind of count at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import plotly.graph_objects as go

from dpportal.charts.both_kinds import one_at_a_time
from dpportal.charts.cell_names import cell_names
from dpportal.charts.cells import shaped
from dpportal.charts.counted_word import counted_by, counted_word
from dpportal.charts.counts import MAX_STEPS, interval_caption, switched_figure
from dpportal.charts.group_traces import (
    MAX_GROUPS,
    MAX_SIDE_BY_SIDE,
    TICKS,
    are_lines,
    far_above_caption,
    group_bars,
    group_line,
)
from dpportal.charts.largest_first import is_long, largest_cells
from dpportal.charts.own_cells import ShownCells, cells_in_order, cells_to_show, own_cells_sentence
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
    counts: np.ndarray | None,
    half_width: int | None,
    partition: np.ndarray | None = None,
    margins: Sequence[int | None] | None = None,
) -> Figure:
    """Noisy counts; adjusted ones in their place at a reader's choice, where there are any.

    raw, counts: (domain.size,) in cell order. half_width: of one noisy count's 95 % interval. margins: for each column
    that of the sum of one of its cells over the other columns; None: all cells are drawn, also of nobody. One column:
    bars or steps. Two, one of them with few cells: bars in groups, or a line for each group. Otherwise heat maps.
    """
    sentences, axes = [], axes_of_two(domain)
    for select in (_with_people, partial(_sorted, axes), partial(_in_order, axes, half_width)):
        selected = select(domain, raw.reshape(domain.shape), margins) if partition is None else None
        if selected is not None:
            raw = selected.of(raw.reshape(domain.shape)).reshape(-1)
            counts = None if counts is None else selected.of(counts.reshape(domain.shape)).reshape(-1)
            domain = Domain(selected.attributes)
            sentences.append(selected.caption)
    if axes is None or partition is not None or not _are_grouped(domain, axes):
        figure = switched_figure(domain, raw=raw, counts=counts, half_width=half_width, partition=partition)
    else:
        figure = _grouped(domain, axes, raw, counts, half_width)
    figure = replace(figure, caption=in_a_row([figure.caption, *sentences]))
    return figure if counts is None else one_at_a_time(figure, figure.json["data"])


def _with_people(
    domain: Domain, values: np.ndarray, margins: Sequence[int | None] | None
) -> ShownCells | None:
    """Without those of the portal's own cells in which perhaps nobody is."""
    return None if margins is None else cells_to_show(domain.attributes, values, margins)


def _sorted(
    axes: tuple[int, int] | None, domain: Domain, values: np.ndarray, _margins: object
) -> ShownCells | None:
    """The largest first, along a column of many values without an order."""
    along = _axis_along(domain, axes)
    return (
        largest_cells(domain, along, values)
        if along is not None and is_long(domain.attributes[along])
        else None
    )


def _in_order(
    axes: tuple[int, int] | None,
    half_width: int | None,
    domain: Domain,
    values: np.ndarray,
    _margins: object,
) -> ShownCells | None:
    """Without the cells that have no place along an order whose cells have no label each, their numbers in words."""
    if (place := _axis_along(domain, axes)) is None:
        return None
    along = domain.attributes[place]
    has_all_labels = not are_lines(along) if axes else along.size <= 2 * TICKS
    if not along.ordered or has_all_labels:
        return None
    groups = cell_names(domain.attributes[axes[1]]) if axes else [""]
    by_groups = values.transpose(axes or (0,)).reshape(along.size, len(groups))
    sentence = own_cells_sentence(along, groups, by_groups, half_width)
    return cells_in_order(domain.attributes, place, sentence) if sentence else None


def _grouped(
    domain: Domain, axes: tuple[int, int], raw: np.ndarray, counts: np.ndarray | None, half_width: int | None
) -> Figure:
    """Bars in groups, or a line for each group."""
    along, groups = (domain.attributes[axis] for axis in axes)
    figure = go.Figure(layout={"barmode": "group", "legend": {"title": {"text": plain(groups.shown_name)}}})
    for kind, values in shaped(domain, {"noisy": raw, "synthetic": counts}).items():
        shown = half_width if kind == "noisy" else None
        figure.add_traces(_traces(along, groups, values.transpose(axes), kind, shown))
    axis = category_axis(along.shown_name, TICKS if along.size > 2 * TICKS else 0, along.size)
    figure.update_layout(xaxis=axis, yaxis=people_axis(counted_word()))
    title = counted_by(f"{along.shown_name} × {groups.shown_name}")
    caption = interval_caption(half_width, counted_word())
    if are_lines(along):
        noisy = raw.reshape(domain.shape).transpose(axes)
        caption = in_a_row([caption, far_above_caption(cell_names(groups), noisy)])
    display = Display(is_counts=True, is_ordered=along.ordered)
    return finished(figure, title=title, caption=caption, display=display)


def axes_of_two(domain: Domain) -> tuple[int, int] | None:
    """Of two columns, which one runs along the axis and which one, with fewest cells, makes groups; else None."""
    if len(domain.attributes) != 2:
        return None
    groups = min((1, 0), key=lambda axis: domain.shape[axis])
    return 1 - groups, groups


def _are_grouped(domain: Domain, axes: tuple[int, int]) -> bool:
    """Whether the groups are few enough to be told apart, as bars or as lines."""
    along, groups = (domain.attributes[axis] for axis in axes)
    fits = not along.ordered or along.size <= MAX_STEPS
    return fits and groups.size <= (MAX_GROUPS if are_lines(along) else MAX_SIDE_BY_SIDE)


def _axis_along(domain: Domain, axes: tuple[int, int] | None) -> int | None:
    """The column along a chart of bars or lines. axes: of two columns; None where there is one, or more."""
    if axes is None:
        return 0 if len(domain.shape) == 1 else None
    return axes[0] if _are_grouped(domain, axes) else None


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
        of_one = group_line(*of_group) if are_lines(along) else [group_bars(*of_group)]
        traces += [trace.update(meta=kind) for trace in of_one]
    return traces
