"""Released counts along one column, once for each value of another: small charts on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.chosen_counts import (
    ChosenCounts,
    caption_of,
    group_names,
    in_order,
    largest_groups,
    shown_values,
    unit_of,
)
from dpportal.charts.counted_word import counted_word
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.group_traces import MAX_GROUPED, group_bars, group_line
from dpportal.charts.small_multiples import MAX_APART, in_panels
from dpportal.charts.style import Figure, hover, plain, plain_all
from dpportal.platform.listed_names import in_a_row, joint
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute


@dataclass(frozen=True)
class ChosenPanels:
    """What is drawn. each: what one chart shows, of all its people together. apart: each of its cells has one.

    values: (cells of along, groups, cells of apart), estimates; page: which MAX_APART of them are shown, from 0.
    """

    each: ChosenCounts
    apart: Attribute
    values: Floats
    page: int = 0

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
    order, labels = in_order(each)
    templates = _templates(each, groups, labels)

    def panel(place: int) -> list[FigureJson]:
        of_one = replace(each, values=chosen.values[:, :, cells[place]])
        counts = shown_values(of_one)[order]
        return [
            {
                **trace,
                "y": counts[_cells_of(trace, labels), group].tolist(),
                "showlegend": named and place == 0,
            }
            for traces, group in zip(templates, groups, strict=True)
            for trace, named in zip(traces, (bool(each.by), False), strict=False)
        ]

    names = plain_all(cell_names(chosen.apart))
    by = f" × {each.by.name}" if each.by else ""
    title = _("%(counted)s by %(columns)s, for each value of %(apart)s")
    drawn = in_panels(
        [names[cell] for cell in cells],
        panel,
        title=title
        % {
            "counted": counted_word().capitalize(),
            "columns": each.along.name + by,
            "apart": chosen.apart.name,
        },
        caption=in_a_row([_("Every panel has the same axes."), caption_of(each, groups)]),
        unit=unit_of(each),
        along=each.along.name,
    )
    layout = {**drawn.json["layout"], "barmode": "group", "showlegend": each.by is not None}
    return Figure({**drawn.json, "layout": layout}, drawn.caption, drawn.title)


def _cells_of(trace: FigureJson, labels: list[str]) -> slice:
    """The cells that a trace draws: all, those of an order, or those beside it."""
    first = labels.index(trace["x"][0])
    return slice(first, first + len(trace["x"]))


def _templates(each: ChosenCounts, groups: Sequence[int], labels: list[str]) -> list[list[FigureJson]]:
    """Traces for each group, of which the panels have their own numbers: slow to make, quick to copy."""
    names, nothing = group_names(each), np.zeros(len(labels))
    number = hover(unit_of(each), None if each.shares else each.half_width)
    is_line = each.along.ordered and len(labels) > MAX_GROUPED
    traces = []
    for place, group in enumerate(groups):
        text = f"{names[group]}{joint(',')}{number}" if each.by else number
        own = (place, names[group] or plain(unit_of(each)), labels, nothing, None, text)
        drawn = group_line(*own) if is_line else [group_bars(*own)]
        traces.append([trace.to_plotly_json() for trace in drawn])
    return traces
