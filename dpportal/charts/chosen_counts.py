"""Released counts as a reader asks to see them: along one column, by the values of another, as counts or shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _, ngettext

from dpportal.charts.both_kinds import of_both_kinds, one_at_a_time
from dpportal.charts.cell_names import are_years, cell_names
from dpportal.charts.counted_word import counted_by, counted_word
from dpportal.charts.counts import interval_caption
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.group_traces import (
    HATCHES,
    MAX_GROUPED,
    MAX_GROUPS,
    MAX_SIDE_BY_SIDE,
    TICKS,
    are_lines,
    far_above_caption,
    group_bars,
    group_line,
    one_sided,
    with_margins,
)
from dpportal.charts.largest_first import largest, largest_caption
from dpportal.charts.own_cells import own_cells, own_cells_sentence
from dpportal.charts.style import (
    Display,
    Figure,
    HalfWidth,
    bar_look,
    category_axis,
    finished,
    hover,
    people_axis,
    plain,
    plain_all,
)
from dpportal.platform.listed_names import in_a_row, joint, listed
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Date

# Groups of nobody that a caption names.
NAMED = 5
PERCENT = " %"
# Bars side by side up to which each has its margin drawn, which is the same for all and in the caption.
MOST_WHISKERS = 400
# Cells along a chart up to which each share has its own margin: more would take a page too long.
MOST_SHARES = 200
# Bars, or places of lines, of all groups together: along a column of many cells fewer groups are told apart.
MOST_POINTS, MOST_IN_PANELS = 800, 4800
# Bars of a mirrored chart, one above the other, and pixels that each takes besides the frame.
MIRRORED, MIRRORED_PIXELS, FRAME_PIXELS = range(4, 111), 9, 130
# Beside two groups that face each other others may be left out that hold at most such a share.
LEFT_OUT, FACING = 0.01, range(2, 5)


@dataclass(frozen=True)
class ChosenCounts:
    """What is drawn. values: (cells of along, groups), estimates. half_width: of each, where all have one.

    by: whose values make the groups; None: one group. shares: of each group's people, in percent. by_size: cells with
    most people first, of a column without an order. rest_half_width, group_half_width: of a group's people without
    those of one cell, and of all of them, where shares are drawn and all groups have one. not_shown: which of the
    portal's own cells are left out, as `own_cells.cells_to_show` says.
    """

    along: Attribute
    by: Attribute | None
    values: Floats
    half_width: int | None
    shares: bool = False
    by_size: bool = False
    rest_half_width: int | None = None
    group_half_width: int | None = None
    not_shown: str = ""


def chosen_figure(chosen: ChosenCounts, adjusted: Floats | None = None) -> Figure:
    """Mirrored bars for two groups along an order, lines for more, bars for a column without an order.

    adjusted: as `ChosenCounts.values`; then a reader may have these of the same cells in place of the noisy ones.
    """
    pair, (order, _labels) = _facing(chosen), in_order(chosen)
    groups = largest_groups(chosen) if pair is None else pair
    draw = _side_by_side if pair is None else _mirrored
    figure = _figure(chosen, draw, order, groups)
    are_bars = pair is None and not (chosen.by and are_lines(chosen.along))
    draws_margins = not are_bars or len(order) * len(groups) <= MOST_WHISKERS
    above = "" if chosen.shares or are_bars or pair is not None else _far_above(chosen, groups)
    below = _below_caption(chosen.values[order][:, groups]) if pair is not None else ""
    caption = in_a_row(
        [caption_of(chosen, groups, draws_margins), above, below, _unplaced_note(chosen, groups)]
    )
    by = f" × {chosen.by.shown_name}" if chosen.by else ""
    title = counted_by(chosen.along.shown_name + by)
    display = Display(is_counts=pair is None and not chosen.shares, is_ordered=chosen.along.ordered)
    shown = finished(figure, title=title, caption=caption, display=display)
    if adjusted is None:
        return shown
    other = _figure(of_adjusted(chosen, adjusted), draw, order, groups).to_dict()
    return one_at_a_time(shown, of_both_kinds(shown.json["data"], other["data"]))


def _far_above(chosen: ChosenCounts, groups: Sequence[int]) -> str:
    names = group_names(chosen)
    return far_above_caption([names[group] for group in groups], chosen.values[:, groups])


def _below_caption(values: Floats) -> str:
    """Of bars that grow to both sides."""
    return _("A noisy count below 0 has no bar.") if (values < 0).any() else ""


def of_adjusted(chosen: ChosenCounts, adjusted: Floats) -> ChosenCounts:
    """The same of adjusted counts, which have no margins."""
    return replace(chosen, values=adjusted, half_width=None, rest_half_width=None, group_half_width=None)


def _figure(
    chosen: ChosenCounts, draw: Callable[..., go.Figure], order: Sequence[int], groups: Sequence[int]
) -> go.Figure:
    """order, groups: the places of cells along the chart, and of groups."""
    labels, names = plain_all(cell_names(chosen.along)), group_names(chosen)
    values, half_width = shown_values(chosen)[order][:, groups], shown_margins(chosen)
    if isinstance(half_width, np.ndarray):
        half_width = half_width[order][:, groups]
    return draw([labels[place] for place in order], [names[g] for g in groups], values, half_width, chosen)


def caption_of(chosen: ChosenCounts, shown: Sequence[int], draws_margins: bool = True) -> str:
    """What the numbers are, and which groups are not shown. shown: the places of those that are."""
    margins = (
        _shares_caption(chosen, draws_margins)
        if chosen.shares
        else interval_caption(chosen.half_width, counted_word())
    )
    names, people = group_names(chosen), has_people(chosen)
    left = sorted(set(range(len(names))) - set(shown))
    rest, nobody = ([g for g in left if people[g] == some] for some in (True, False))
    return in_a_row(
        [
            margins,
            chosen.not_shown,
            _("Shares are of those that are drawn.") if chosen.shares and chosen.not_shown else "",
            "" if chosen.along.ordered else largest_caption(len(in_order(chosen)[0]), chosen.along.size),
            _left_out_caption(names, rest, chosen.values.sum(axis=0)) if rest else "",
            _nobody_caption([names[g] for g in nobody]) if nobody else "",
        ]
    )


def _unplaced_note(chosen: ChosenCounts, groups: Sequence[int]) -> str:
    """The numbers of the cells that have no place along the chart's order. groups: the places of those shown."""
    if not leaves_order(chosen):
        return ""
    names, margins = group_names(chosen), shown_margins(chosen)
    own = margins[:, groups] if isinstance(margins, np.ndarray) else margins
    unit = PERCENT if chosen.shares else ""
    return own_cells_sentence(
        chosen.along, [names[g] for g in groups], shown_values(chosen)[:, groups], own, unit
    )


def leaves_order(chosen: ChosenCounts, in_panels: bool = False) -> bool:
    """Whether the portal's own cells have no place along the chart: lines, or bars of which not each has a label."""
    in_lines = chosen.by is not None or in_panels
    most = MAX_GROUPED if in_lines else 2 * TICKS
    return chosen.along.ordered and chosen.along.size > most


def group_names(chosen: ChosenCounts) -> list[str]:
    """Of all groups, in their order; one without a name where there are none."""
    return plain_all(cell_names(chosen.by)) if chosen.by else [""]


def in_order(chosen: ChosenCounts, in_panels: bool = False) -> tuple[list[int], list[str]]:
    """The places of the cells along the chart as they are drawn, and their labels."""
    labels, places = plain_all(cell_names(chosen.along)), list(range(chosen.along.size))
    if chosen.by_size and not chosen.along.ordered:
        places = largest(chosen.values.sum(axis=1), len(largest_groups(chosen)))
    if leaves_order(chosen, in_panels):
        places = [place for place in places if place not in own_cells(chosen.along)]
    return places, [labels[place] for place in places]


def shown_values(chosen: ChosenCounts) -> Floats:
    """(cells of along, groups) people, or percent of each group."""
    if not chosen.shares:
        return chosen.values
    shares: Floats = np.round(100 * _shares(chosen), 2)
    return shares


def _shares(chosen: ChosenCounts) -> Floats:
    shares: Floats = np.clip(chosen.values / np.maximum(chosen.values.sum(axis=0), 1), 0, 1)
    return shares


def shown_margins(chosen: ChosenCounts) -> HalfWidth:
    """Of each bar or place of a line; of shares (cells of along, groups), in percent.

    Where x of a group's T people are in a cell by noisy counts, and a share p is there in truth, then x/T - p is
    ((1 - p) e - p f) / T, with e the noise of the cell and f that of the group's other cells. Independent noises add up
    by their squares; p is whichever end of the interval around x/T gives more.
    """
    if not chosen.shares:
        return chosen.half_width
    if not shares_have_margins(chosen):
        return None
    assert chosen.half_width is not None and chosen.rest_half_width is not None
    own, rest, shares = chosen.half_width, chosen.rest_half_width, _shares(chosen)
    people = np.maximum(chosen.values.sum(axis=0), 1)

    def reach(share: Floats) -> Floats:
        reached: Floats = np.hypot((1 - share) * own, share * rest) / people
        return reached

    first = reach(shares)
    widest = np.maximum(reach(np.clip(shares - first, 0, 1)), reach(np.clip(shares + first, 0, 1)))
    margins: Floats = np.ceil(1000 * widest) / 10
    return margins


def shares_have_margins(chosen: ChosenCounts) -> bool:
    """Whether each share has an interval of its own."""
    is_known = chosen.half_width is not None and chosen.rest_half_width is not None
    return is_known and chosen.along.size <= MOST_SHARES


def has_people(chosen: ChosenCounts) -> list[bool]:
    """Of each group, whether noise alone does not explain its people; a share of nobody is no number."""
    if not chosen.shares:
        return [True] * chosen.values.shape[1]
    certain: list[bool] = (chosen.values.sum(axis=0) > (chosen.group_half_width or 0)).tolist()
    return certain


def largest_groups(chosen: ChosenCounts, panels: int = 1) -> list[int]:
    """As many as can be told apart, in their order; fewer where each is drawn in many panels."""
    totals, people = chosen.values.sum(axis=0), has_people(chosen)
    most = MOST_POINTS if panels == 1 else MOST_IN_PANELS // panels
    fitting = max(1, most // chosen.along.size)
    apart = MAX_SIDE_BY_SIDE if chosen.along.size <= MAX_GROUPED else MAX_GROUPS
    ranked = [group for group in np.argsort(-totals, kind="stable").tolist() if people[group]]
    return sorted(ranked[: min(apart, fitting)])


def may_face(along: Attribute, by: Attribute) -> bool:
    """Whether a chart of two columns is one of two sides: an order of some length by two values, or by three cells."""
    return _may_rise(along) and (by.size - len(own_cells(by)) == 2 or by.size == 3)


def _may_rise(along: Attribute) -> bool:
    """Whether its cells may stand above each other: an order of some length, as ages, but no time, which runs ahead."""
    return along.ordered and along.size in MIRRORED and not isinstance(along, Date) and not are_years(along)


def _facing(chosen: ChosenCounts) -> list[int] | None:
    """The two groups of a mirrored chart, where it fits: an order of some length, nearly everybody in two groups."""
    if chosen.by is None or not _may_rise(chosen.along):
        return None
    totals = np.maximum(chosen.values.sum(axis=0), 0)
    pair = sorted(np.argsort(-totals, kind="stable")[:2].tolist())
    rest, people = totals.sum() - totals[pair].sum(), has_people(chosen)
    fits = len(totals) in FACING and rest <= LEFT_OUT * totals.sum()
    return pair if fits and all(people[group] for group in pair) else None


def _mirrored(
    labels: list[str], names: list[str], values: Floats, half_width: HalfWidth, chosen: ChosenCounts
) -> go.Figure:
    figure = go.Figure(layout={"barmode": "overlay", "legend": legend_of(chosen)})
    own_value = "%{customdata[0]:,}" if isinstance(half_width, np.ndarray) else "%{customdata:,}"
    shown = hover(unit_of(chosen), half_width, own_value, "%{y}")
    for place, (name, side) in enumerate(zip(names, (-1, 1), strict=True)):
        own = margin_of(half_width, place)
        figure.add_bar(
            name=name,
            orientation="h",
            y=labels,
            # Below 0 it would be a bar of the other group.
            x=(side * np.maximum(values[:, place], 0)).tolist(),
            customdata=with_margins(values[:, place], own) or values[:, place].tolist(),
            marker=bar_look(f"var(--series-{place + 1})", HATCHES[place]),
            error_x=one_sided(values[:, place], own, is_left=side < 0),
            hovertemplate=f"{name}{joint(',')}{shown}<extra></extra>",
        )
    axis = category_axis(chosen.along.shown_name, TICKS, len(labels))
    # As far to either side, so that marks are on both.
    reach = 1.02 * float((values + (0 if half_width is None else half_width)).max())
    figure.update_layout(
        yaxis={**axis, "showgrid": False},
        xaxis={
            **unit_axis(chosen),
            "range": [-reach, reach],
            "tickformat": ",",
            "labelalias": _unsigned(values, chosen.shares),
        },
        height=FRAME_PIXELS + max(240, MIRRORED_PIXELS * len(labels)),
    )
    return figure


def _unsigned(values: Floats, are_shares: bool) -> dict[str, str]:
    """What marks on the left are called: numbers grow to both sides."""
    sign = PERCENT if are_shares else ""
    power = 10 ** max(0, int(np.log10(max(1.0, float(np.abs(values).max())))) - 1)
    marks = np.unique(
        [step * power for step in range(1, 100)] + [step * power // 2 for step in range(1, 200)]
    )
    return {f"\N{MINUS SIGN}{int(mark):,}{sign}": f"{int(mark):,}{sign}" for mark in marks}


def margin_of(half_width: HalfWidth, group: int) -> HalfWidth:
    """Of one group: half_width has the same for all, or (cells, groups)."""
    return half_width[:, group] if isinstance(half_width, np.ndarray) else half_width


def _side_by_side(
    labels: list[str], names: list[str], values: Floats, half_width: HalfWidth, chosen: ChosenCounts
) -> go.Figure:
    figure = go.Figure(layout={"barmode": "group", "legend": legend_of(chosen)})
    lines = are_lines(chosen.along) and chosen.by is not None
    whiskers = half_width if values.size <= MOST_WHISKERS else None
    for place, name in enumerate(names):
        text = f"{f'{name}, ' if name else ''}{hover(unit_of(chosen), half_width)}"
        own = margin_of(half_width if lines else whiskers, place)
        if lines:
            figure.add_traces(group_line(place, name, labels, values[:, place], own, text))
        else:
            bars = group_bars(place, name, labels, values[:, place], own, text)
            figure.add_trace(bars.update(showlegend=bool(name)))
    axis = category_axis(chosen.along.shown_name, TICKS if len(labels) > 2 * TICKS else 0, len(labels))
    figure.update_layout(xaxis=axis, yaxis={**people_axis(""), **unit_axis(chosen)})
    return figure


def legend_of(chosen: ChosenCounts) -> FigureJson:
    """A legend that says of which column its names are values."""
    return {"title": {"text": plain(chosen.by.shown_name)}} if chosen.by else {}


def unit_of(chosen: ChosenCounts) -> str:
    """What is counted along the other axis."""
    if not chosen.shares:
        return counted_word()
    return _("% of the group") if chosen.by else _("%% of all %(counted)s") % {"counted": counted_word()}


def unit_axis(chosen: ChosenCounts) -> FigureJson:
    """The same as an axis whose numbers have their sign."""
    return {"title": {"text": unit_of(chosen)}, **({"ticksuffix": PERCENT} if chosen.shares else {})}


def _shares_caption(chosen: ChosenCounts, draws_margins: bool) -> str:
    if shares_have_margins(chosen) and not draws_margins:
        return _("Shares are worked out from noisy counts; these are too many to draw the margin of each.")
    if shares_have_margins(chosen):
        return _("Shares are worked out from noisy counts; each has its own margin (95 %).")
    return _(
        "Shares are worked out from noisy counts, with those below zero as zero. They have no margin; counts have."
    )


def _nobody_caption(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        text = _("%(number)s groups are left out: perhaps nobody is in them.")
        return text % {"number": len(names)}
    text = ngettext(
        "“%(groups)s” is left out: perhaps nobody is in it.",
        "%(groups)s are left out: perhaps nobody is in them.",
        len(names),
    )
    return text % {"groups": listed(names)}


def _left_out_caption(names: Sequence[str], rest: Sequence[int], totals: Floats) -> str:
    if len(rest) > 1:
        return largest_caption(len(names) - len(rest), len(names))
    text = _("“%(group)s” is not drawn, about %(number)s of %(all)s %(counted)s; the table has it.")
    number, all_of_them = (f"{max(0.0, total):,.0f}" for total in (totals[rest[0]], totals.sum()))
    return text % {"group": names[rest[0]], "number": number, "all": all_of_them, "counted": counted_word()}
