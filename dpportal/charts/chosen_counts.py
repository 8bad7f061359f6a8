"""Released counts as a reader asks to see them: along one column, by the values of another, as counts or shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.counted_word import counted_word
from dpportal.charts.counts import interval_caption
from dpportal.charts.group_traces import (
    HATCHES,
    MAX_BESIDE,
    MAX_GROUPED,
    MAX_GROUPS,
    TICKS,
    group_bars,
    group_line,
)
from dpportal.charts.style import (
    Display,
    Figure,
    bar_look,
    category_axis,
    finished,
    hover,
    people_axis,
    plain,
    plain_all,
    whisker,
)
from dpportal.platform.listed_names import joint
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute

# Bars side by side up to which each has its margin drawn, which is the same for all and in the caption.
MOST_WHISKERS = 400
# Bars, or places of lines, of all groups together: along a column of many cells fewer groups are told apart.
MOST_DRAWN, MOST_IN_PANELS = 800, 4800
# Bars of a mirrored chart, one above the other, and pixels that each takes besides the frame.
MIRRORED, MIRRORED_PIXELS, FRAME_PIXELS = range(4, 111), 9, 130
# Of two groups that face each other a third may be left out that holds at most such a share.
LEFT_OUT = 0.01


@dataclass(frozen=True)
class ChosenCounts:
    """What is drawn. values: (cells of along, groups), estimates. half_width: of each, where all have one.

    by: whose values make the groups; None: one group. shares: of each group's people, in percent. by_size: cells with
    most people first, of a column without an order.
    """

    along: Attribute
    by: Attribute | None
    values: Floats
    half_width: int | None
    shares: bool = False
    by_size: bool = False


def chosen_figure(chosen: ChosenCounts) -> Figure:
    """Mirrored bars for two groups along an order, lines for more, bars for a column without an order."""
    names, groups = group_names(chosen), largest_groups(chosen)
    order, labels = in_order(chosen)
    values = shown_values(chosen)[order]
    half_width = None if chosen.shares else chosen.half_width
    if (pair := _facing(chosen)) is not None:
        figure = _mirrored(labels, [names[g] for g in pair], values[:, pair], half_width, chosen)
        groups = pair
    else:
        figure = _side_by_side(labels, [names[g] for g in groups], values[:, groups], half_width, chosen)
    caption = caption_of(chosen, groups)
    by = f" × {chosen.by.name}" if chosen.by else ""
    title = _("%(counted)s by %(columns)s") % {
        "counted": counted_word().capitalize(),
        "columns": chosen.along.name + by,
    }
    display = Display(is_ordered=chosen.along.ordered)
    return finished(figure, title=title, caption=caption, display=display)


def caption_of(chosen: ChosenCounts, shown: Sequence[int]) -> str:
    """What the numbers are, and which groups are not shown. shown: the places of those that are."""
    caption = _shares_caption() if chosen.shares else interval_caption(chosen.half_width, counted_word())
    names = group_names(chosen)
    rest = sorted(set(range(len(names))) - set(shown))
    if not rest:
        return caption
    return f"{caption} {_left_out_caption(names, rest, chosen.values.sum(axis=0))}"


def group_names(chosen: ChosenCounts) -> list[str]:
    """Of all groups, in their order; one without a name where there are none."""
    return plain_all(cell_names(chosen.by)) if chosen.by else [""]


def in_order(chosen: ChosenCounts) -> tuple[list[int], list[str]]:
    """The places of the cells along the chart as they are drawn, and their labels."""
    labels, places = plain_all(cell_names(chosen.along)), list(range(chosen.along.size))
    if chosen.by_size and not chosen.along.ordered:
        places = np.argsort(-chosen.values.sum(axis=1), kind="stable").tolist()
    return places, [labels[place] for place in places]


def shown_values(chosen: ChosenCounts) -> Floats:
    """(cells of along, groups) people, or percent of each group."""
    if not chosen.shares:
        return chosen.values
    people = np.maximum(chosen.values, 0)
    shares: Floats = np.round(100 * people / np.maximum(people.sum(axis=0), 1), 2)
    return shares


def largest_groups(chosen: ChosenCounts, panels: int = 1) -> list[int]:
    """As many as can be told apart, in their order; fewer where each is drawn in many panels."""
    totals = chosen.values.sum(axis=0)
    most = MOST_DRAWN if panels == 1 else MOST_IN_PANELS // panels
    fitting = max(1, most // chosen.along.size)
    apart = MAX_BESIDE if chosen.along.size <= MAX_GROUPED else MAX_GROUPS
    return sorted(np.argsort(-totals, kind="stable")[: min(apart, fitting)].tolist())


def _facing(chosen: ChosenCounts) -> list[int] | None:
    """The two groups of a mirrored chart, where it fits: an order of some length, nearly everybody in two groups."""
    if chosen.by is None or not chosen.along.ordered or chosen.along.size not in MIRRORED:
        return None
    totals = np.maximum(chosen.values.sum(axis=0), 0)
    pair = sorted(np.argsort(-totals, kind="stable")[:2].tolist())
    rest = totals.sum() - totals[pair].sum()
    return pair if len(totals) in (2, 3) and rest <= LEFT_OUT * totals.sum() else None


def _mirrored(
    labels: list[str], names: list[str], values: Floats, half_width: int | None, chosen: ChosenCounts
) -> go.Figure:
    figure = go.Figure(layout={"barmode": "overlay"})
    shown = hover(unit_of(chosen), half_width, "%{customdata:,}", "%{y}")
    for place, (name, side) in enumerate(zip(names, (-1, 1), strict=True)):
        figure.add_bar(
            name=name,
            orientation="h",
            y=labels,
            x=(side * values[:, place]).tolist(),
            customdata=values[:, place].tolist(),
            marker=bar_look(f"var(--series-{place + 1})", HATCHES[place]),
            error_x=whisker(half_width),
            hovertemplate=f"{name}{joint(',')}{shown}<extra></extra>",
        )
    axis = category_axis(chosen.along.name, TICKS, len(labels))
    figure.update_layout(
        yaxis={**axis, "showgrid": False},
        xaxis={"title": {"text": unit_of(chosen)}, "tickformat": ",", "labelalias": _unsigned(values)},
        height=FRAME_PIXELS + max(240, MIRRORED_PIXELS * len(labels)),
    )
    return figure


def _unsigned(values: Floats) -> dict[str, str]:
    """What marks on the left are called: numbers grow to both sides."""
    power = 10 ** max(0, int(np.log10(max(1.0, float(np.abs(values).max())))) - 1)
    marks = np.unique(
        [step * power for step in range(1, 100)] + [step * power // 2 for step in range(1, 200)]
    )
    return {f"\N{MINUS SIGN}{int(mark):,}": f"{int(mark):,}" for mark in marks}


def _side_by_side(
    labels: list[str], names: list[str], values: Floats, half_width: int | None, chosen: ChosenCounts
) -> go.Figure:
    legend = {"title": {"text": plain(chosen.by.name)}} if chosen.by else {}
    figure = go.Figure(layout={"barmode": "group", "legend": legend})
    lines = chosen.along.ordered and len(labels) > MAX_GROUPED and chosen.by is not None
    drawn = half_width if values.size <= MOST_WHISKERS else None
    for place, name in enumerate(names):
        text = f"{f'{name}, ' if name else ''}{hover(unit_of(chosen), half_width)}"
        if lines:
            figure.add_traces(group_line(place, name, labels, values[:, place], half_width, text))
        else:
            bars = group_bars(place, name, labels, values[:, place], drawn, text)
            figure.add_trace(bars.update(showlegend=bool(name)))
    axis = category_axis(chosen.along.name, TICKS if len(labels) > 2 * TICKS else 0, len(labels))
    figure.update_layout(xaxis=axis, yaxis=people_axis(unit_of(chosen)))
    return figure


def unit_of(chosen: ChosenCounts) -> str:
    """What is counted along the other axis."""
    return _("% of the group") if chosen.shares else counted_word()


def _shares_caption() -> str:
    return _(
        "Shares are worked out from noisy counts, with those below zero as zero. They have no margin; counts have."
    )


def _left_out_caption(names: Sequence[str], rest: Sequence[int], totals: Floats) -> str:
    if len(rest) > 1:
        text = _("The %(shown)s largest of %(groups)s groups are drawn; all are in the table.")
        return text % {"shown": len(names) - len(rest), "groups": len(names)}
    text = _("“%(group)s” is not drawn, about %(number)s of %(all)s %(counted)s; the table has it.")
    number, all_of_them = (f"{max(0.0, total):,.0f}" for total in (totals[rest[0]], totals.sum()))
    return text % {"group": names[rest[0]], "number": number, "all": all_of_them, "counted": counted_word()}
