"""Released counts along one column, once for each value of another: small charts on the same axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.both_kinds import of_both_kinds, one_at_a_time
from dpportal.charts.cell_names import cell_names
from dpportal.charts.chosen_counts import (
    ChosenCounts,
    caption_of,
    group_names,
    has_people,
    in_order,
    largest_groups,
    leaves_order,
    legend_of,
    margin_of,
    of_adjusted,
    shares_have_margins,
    shown_margins,
    shown_values,
    unit_of,
)
from dpportal.charts.counted_word import counted_word
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.group_traces import are_lines, error_bars, group_bars, group_line, with_margins
from dpportal.charts.own_cells import own_cells
from dpportal.charts.small_multiples import FRAME, MAX_APART, in_panels
from dpportal.charts.style import Figure, HalfWidth, hover, plain
from dpportal.platform.listed_names import in_a_row, joint, listed
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute

# Bars, or places of lines, in all panels together, up to which each has its margin drawn.
MOST_MARGINS = 1200
# Pixels between the names of the first row and those of the groups.
LEGEND_ROOM = 28


@dataclass(frozen=True)
class ChosenPanels:
    """What is drawn. each: what one chart shows, of all its people together. apart: each of its cells has one.

    values: (cells of along, groups, cells of apart), estimates; page: which MAX_APART of them are shown, from 0.
    adjusted: the same of adjusted counts, which a reader then may have in place of the noisy ones.
    """

    each: ChosenCounts
    apart: Attribute
    values: Floats
    page: int = 0
    adjusted: Floats | None = None

    @property
    def cells(self) -> list[int]:
        """The cells of `apart` that are shown."""
        return list(range(self.apart.size))[MAX_APART * self.page : MAX_APART * (self.page + 1)]


def pages_of(apart: Attribute) -> list[str]:
    """What a reader picks from where there are more charts than are shown together, such as “1 to 12”."""
    starts = range(0, apart.size, MAX_APART)
    words = _("%(first)s to %(last)s")
    return [
        words % {"first": f"{start + 1:,}", "last": f"{min(start + MAX_APART, apart.size):,}"}
        for start in starts
    ]


def panels_figure(chosen: ChosenPanels) -> Figure:
    """A chart for each shown cell of `apart`: bars, or lines along an order of some length."""
    each, cells = chosen.each, chosen.cells
    groups = largest_groups(each, len(cells))
    order, labels = in_order(each, in_panels=True)
    draws_margins = len(labels) * len(groups) * len(cells) <= MOST_MARGINS
    each_of = [replace(each, values=chosen.values[:, :, cell]) for cell in cells]
    people = np.array([has_people(of_one) for of_one in each_of])
    noisy = _Panels(each_of, people, order, _templates(each, groups, labels, draws_margins))
    adjusted = _adjusted(chosen, noisy, _templates(of_adjusted(each, each.values), groups, labels, False))
    names = cell_names(chosen.apart)
    figure = in_panels(
        [names[cell] for cell in cells],
        lambda place: of_both_kinds(noisy.of(place), adjusted.of(place) if adjusted else ()),
        title=_title(chosen),
        caption=in_a_row(
            [
                _("Every panel has the same axes."),
                caption_of(each, groups, draws_margins),
                _unplaced_note(each),
                _gaps(people[:, groups]),
            ]
        ),
        unit=unit_of(each),
        along=each.along.shown_name,
    )
    layout = {**figure.json["layout"], "barmode": "group", "showlegend": each.by is not None}
    # Above the names of the first row.
    layout["legend"] = {"y": 1 + LEGEND_ROOM / (layout["height"] - FRAME), **legend_of(each)}
    layout["margin"] = {**layout["margin"], "t": 2 * LEGEND_ROOM}
    if each.along.ordered:
        layout["meta"] = {**layout.get("meta", {}), "is_ordered": True}
    shown = Figure({**figure.json, "layout": layout}, figure.caption, figure.title)
    return one_at_a_time(shown, shown.json["data"]) if adjusted else shown


def _title(chosen: ChosenPanels) -> str:
    each = chosen.each
    by = f" × {each.by.shown_name}" if each.by else ""
    title = _("%(counted)s by %(columns)s, for each value of %(apart)s")
    words = {"counted": counted_word().capitalize(), "columns": each.along.shown_name + by}
    return title % {**words, "apart": chosen.apart.shown_name}


def _unplaced_note(each: ChosenCounts) -> str:
    """That some cells have no place along each panel's order; how many are in them is too much for a sentence."""
    cells = own_cells(each.along) if leaves_order(each, in_panels=True) else []
    if not cells:
        return ""
    names = cell_names(each.along)
    text = _("Not drawn, since it has no place in the order of %(column)s: %(cells)s. The table has it.")
    return text % {"column": each.along.shown_name, "cells": listed(names[cell] for cell in cells)}


def _gaps(people: np.ndarray) -> str:
    """Why a chart may have no bars. people: (charts, groups), whether there certainly are some."""
    return "" if people.all() else _("A chart leaves out those groups in which perhaps nobody is.")


@dataclass(frozen=True)
class _PanelTraces:
    """Traces of a group, of which each panel has its own numbers: slow to make, quick to copy.

    group: its place among all groups. labels: along the chart. draws_margins: whether they are made with intervals.
    """

    group: int
    labels: list[str]
    traces: list[FigureJson]
    draws_margins: bool

    def filled(self, counts: Floats, margins: HalfWidth, is_first: bool) -> Iterator[FigureJson]:
        """counts: (cells of along, groups) of a panel, NaN of a group of nobody. margins: of `shown_margins`."""
        own = margin_of(margins, self.group) if self.draws_margins else None
        for trace in self.traces:
            first = self.labels.index(trace["x"][0])
            cells = slice(first, first + len(trace["x"]))
            of_cells = own[cells] if isinstance(own, np.ndarray) else own
            numbers = _numbers_of(trace, counts[cells, self.group], of_cells)
            yield {**trace, **numbers, "showlegend": is_first and trace.get("showlegend") is not False}


def _numbers_of(trace: FigureJson, values: Floats, half_width: HalfWidth) -> FigureJson:
    """What a trace draws of a panel's values: the two edges of a band, or marks with or without intervals."""
    if trace.get("hoverinfo") == "skip":
        edge = half_width if trace.get("fill") else -(0 if half_width is None else half_width)
        ends = values + (0 if edge is None else edge)
        return {"y": known(np.maximum(ends, 0) if isinstance(half_width, np.ndarray) else ends)}
    shown: FigureJson = {"y": known(values)}
    if isinstance(half_width, np.ndarray):
        shown["customdata"] = with_margins(values, half_width)
        if trace.get("error_y"):
            shown["error_y"] = error_bars(np.nan_to_num(values), half_width)
    return shown


def known(values: Floats) -> list[float | None]:
    """Numbers as JSON has them: NaN is none."""
    return [None if np.isnan(value) else float(value) for value in values]


@dataclass(frozen=True)
class _Panels:
    """What the panels draw of one kind of count. order: of the cells along each.

    people: (panels, groups), whether anybody certainly is in a group.
    """

    each_of: Sequence[ChosenCounts]
    people: np.ndarray
    order: list[int]
    templates: Sequence[_PanelTraces]

    def of(self, place: int) -> list[FigureJson]:
        """The traces of one panel."""
        counts, margins = shown_values(self.each_of[place])[self.order], shown_margins(self.each_of[place])
        margins = margins[self.order] if isinstance(margins, np.ndarray) else margins
        counts[:, ~self.people[place]] = np.nan
        return [trace for own in self.templates for trace in own.filled(counts, margins, place == 0)]


def _adjusted(chosen: ChosenPanels, noisy: _Panels, templates: Sequence[_PanelTraces]) -> _Panels | None:
    """The same cells of adjusted counts, where a reader may have them."""
    if (counts := chosen.adjusted) is None:
        return None
    each_of = [of_adjusted(chosen.each, counts[:, :, cell]) for cell in chosen.cells]
    return replace(noisy, each_of=each_of, templates=templates)


def _templates(
    each: ChosenCounts, groups: Sequence[int], labels: list[str], draws_margins: bool
) -> list[_PanelTraces]:
    names = group_names(each)
    return [
        _PanelTraces(group, labels, _traces(each, place, names[group], labels, draws_margins), draws_margins)
        for place, group in enumerate(groups)
    ]


def _traces(
    each: ChosenCounts, place: int, name: str, labels: list[str], draws_margins: bool
) -> list[FigureJson]:
    """place, name: of the group among those that are drawn."""
    nothing = np.zeros(len(labels))
    is_own = each.shares and shares_have_margins(each)
    half_width = nothing if is_own else None if each.shares else each.half_width
    text = hover(unit_of(each), half_width if draws_margins or not is_own else None)
    text = f"{name}{joint(',')}{text}" if each.by else text
    whiskers = half_width if draws_margins else None
    own = (place, name or plain(unit_of(each)), labels, nothing, whiskers, text)
    traces = group_line(*own) if are_lines(each.along) else [group_bars(*own)]
    return [{**trace.to_plotly_json(), **({} if each.by else {"showlegend": False})} for trace in traces]
