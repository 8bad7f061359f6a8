"""What the public page of totals and means shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.group_means import means_figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.extremes import extremes
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.means.tables import statistics
from dpportal.releases.products.shared import bounds
from dpportal.releases.products.shared.cells import SINGLE, cell_number
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.titles import read_aloud
from mechanisms.accounting import plainly
from mechanisms.domain import Categorical
from mechanisms.moments.estimates import ColumnEstimates, Interval
from mechanisms.moments.plan import ColumnPlan, MomentsPlan

# Groups on a page, of all columns together, but of each so many at least: a visitor waits for every cell.
MOST_ROWS, FEWEST_ROWS = 500, 20
# Columns with a chart, and groups in all charts together: a visitor waits for every point, and longer for a chart.
MOST_CHARTS, MOST_POINTS = 8, 120
# How many values are at a bound, in parts of all of a group's; and an interval of them that is too wide to tell.
AT_BOUNDS, WIDEST_SHARE = ("share_at_low", "share_at_high"), 0.25


# A column's rows, as `rows_of` takes them: of all groups together, where there are several, then of the first.
_ShownRows = Sequence[tuple[ColumnEstimates, int]]


def page(plan: MomentsPlan, result: GroupMeans) -> Json:
    """A section for each measured column: its table, and a chart where there are groups."""
    rows = [_rows_shown(plan, result, place) for place in range(len(plan.columns))]
    columns = [_section(plan, result, place, own) for place, own in enumerate(rows)]
    figures = [column["figure"] for column in columns if "figure" in column]
    findings = [_finding(plan, result, place, own) for place, own in enumerate(rows)]
    return {
        # What the catalogue's small picture is made of.
        **({"figure": figures[0]} if figures else {}),
        "finding": findings,
        "cautions": list(_cautions(findings)),
        "group_names": [spoken_names(plan)[name] for name in plan.groups.shown_names],
        "groups": plan.groups.size,
        "deviation": plan.degree > 1,
        "counts_rows": plan.loss.unit.counts_rows,
        "has_undeclared": has_undeclared(plan),
        "columns": columns,
        **({"charts": MOST_CHARTS} if figures and len(columns) > MOST_CHARTS else {}),
    }


def spoken_names(plan: MomentsPlan) -> dict[str, str]:
    """How a reader says each column, as the release's title does; files have the table's own names."""
    measured = [planned.column.attribute.shown_name for planned in plan.columns]
    return read_aloud([*measured, *plan.groups.shown_names])


def _finding(plan: MomentsPlan, result: GroupMeans, place: int, shown_rows: _ShownRows) -> Json:
    """A column's mean over all with its interval, and how groups certainly differ."""
    planned, style = plan.columns[place], styles_of(plan.columns[place], plan.degree)["mean"]
    everyone, _first = shown_rows[0]
    shares = (everyone.at_lower, everyone.at_upper)
    shown: Json = {
        "column": spoken_names(plan)[planned.column.attribute.shown_name],
        "mean": running_text(everyone.mean, 0, style),
        "at_bounds": bounds.notes(planned.column, shares, 0),
    }
    if plan.groups.size == 1:
        return shown
    together, means = result.compared[place], result.groups[place].mean
    certain = extremes(together.lower, together.upper)
    above, below = certain.pair or (None, None)
    places = {"highest": certain.highest, "lowest": certain.lowest, "above": above, "below": below}
    names, known = names_of(plan), int((~np.isnan(together.lower)).sum())
    ends = {
        end: {"name": names[group], "mean": running_text(means, group, style)}
        for end, group in places.items()
        if group is not None
    }
    return {**shown, **ends, "alike": known > 1 and not ends, "passed_over": plan.groups.size - known}


def _cautions(findings: Sequence[Json]) -> Iterator[Json]:
    """What only may be so, by column: the first sentences say what is certain."""
    for finding in findings:
        notes = [note for note in finding["at_bounds"] if finding["mean"] and note["is_possible"]]
        if notes or finding.get("passed_over"):
            passed_over = finding.get("passed_over", 0)
            yield {"column": finding["column"], "at_bounds": notes, "passed_over": passed_over}


def _section(plan: MomentsPlan, result: GroupMeans, place: int, shown_rows: _ShownRows) -> Json:
    planned, estimates = plan.columns[place], result.groups[place]
    tells_bounds, styles = _tells_bounds(shown_rows), styles_of(planned, plan.degree)
    if not tells_bounds:
        styles = {name: style for name, style in styles.items() if name not in AT_BOUNDS}
    most = _most_groups(plan)
    labels = labels_of(plan)[:most]
    if result.together:
        labels.insert(0, [_("All")] * len(plan.groups.names))
    lower, upper = planned.column.bound_texts
    shown: Json = {
        "name": spoken_names(plan)[planned.column.attribute.shown_name],
        "place": f"means-{place}",
        "rows": rows_of(labels, shown_rows, styles),
        **({"first_groups": most} if plan.groups.size > most else {}),
        "is_date": planned.column.is_date,
        **({} if tells_bounds else {"bounds_untold": True}),
        "lower": _grouped(lower, planned),
        "upper": _grouped(upper, planned),
        "first_step_end": _grouped(planned.column.first_step_end, planned),
        "step": plainly(planned.column.step),
        "is_exact": not planned.column.floor_error,
    }
    if has_chart(plan, planned) and place < MOST_CHARTS:
        charted = _charted(estimates, MOST_POINTS // min(len(plan.columns), MOST_CHARTS))
        by = " × ".join(spoken_names(plan)[name] for name in plan.groups.shown_names)
        figure = means_figure(shown["name"], names_of(plan), charted, decimals_of(charted), by=by)
        shown["figure"] = figure_json(figure)
    return shown


def _tells_bounds(shown_rows: _ShownRows) -> bool:
    """Whether of some row it is told how many of its values are at a bound; of few people it is 0 % to nearly all."""
    shares = ((of.at_lower, of.at_upper, group) for of, group in shown_rows)
    return any(
        share.upper[group] - share.lower[group] <= WIDEST_SHARE
        for lower, upper, group in shares
        for share in (lower, upper)
    )


def _grouped(bound: str, planned: ColumnPlan) -> str:
    """A bound of numbers with its thousands apart: 1,200."""
    if planned.column.is_date:
        return bound
    integer = re.match(r"-?\d+", bound)
    return f"{int(integer[0]):,}{bound[integer.end() :]}" if integer and int(integer[0]) else bound


def _charted(estimates: ColumnEstimates, most: int) -> Interval:
    """The means of a chart, of the first groups whose mean is told; nothing of the others."""
    first = estimates.mean.estimate.copy()
    first[np.flatnonzero(~np.isnan(first))[most:]] = np.nan
    return Interval(first, estimates.mean.lower, estimates.mean.upper)


def _most_groups(plan: MomentsPlan) -> int:
    """Of each column."""
    return max(FEWEST_ROWS, MOST_ROWS // len(plan.columns))


def _rows_shown(plan: MomentsPlan, result: GroupMeans, place: int) -> _ShownRows:
    together = [(result.together[place], 0)] if result.together else []
    groups = range(min(plan.groups.size, _most_groups(plan)))
    return [*together, *((result.groups[place], group) for group in groups)]


def decimals_of(means: Interval) -> list[int]:
    """Of each group's mean, as the table has it."""
    parts = (cell_number(means, (group,), "") for group in range(len(means.estimate)))
    return [part.decimals if part.is_determined else 0 for part in parts]


def has_chart(plan: MomentsPlan, planned: ColumnPlan) -> bool:
    """Whether means of groups are drawn: those of dates are in the table alone."""
    return plan.groups.size > 1 and not planned.column.is_date


def styles_of(planned: ColumnPlan, degree: int) -> dict[str, str]:
    """How each statistic of a column is written, as `CellNumber` says."""
    is_date = planned.column.is_date
    total = {} if is_date else {"total": ""}
    deviation = {"deviation": "days" if is_date else "spread"} if degree > 1 else {}
    shares = dict.fromkeys(AT_BOUNDS, "share")
    return {
        "number": "people",
        **total,
        "mean": "day" if is_date else "",
        **deviation,
        "without_value": "people",
        **shares,
    }


def rows_of(
    labels: Sequence[Sequence[str]],
    estimates: Sequence[tuple[ColumnEstimates, int]],
    styles: Mapping[str, str],
) -> list[Json]:
    """Rows of labels, and of each number its text and what it is sorted by.

    estimates: of which column's estimates, and of which group, each row is.
    """
    numbers = [
        [cell_number(statistics(of)[name], (group,), styles[name]) for name in styles]
        for of, group in estimates
    ]
    return [
        {"labels": list(own), "cells": [SINGLE.cell([part]) for part in row]}
        for own, row in zip(labels, numbers, strict=True)
    ]


def running_text(interval: Interval, group: int, style: str) -> str:
    """A number with its margin; empty where it is not determined."""
    text: str = SINGLE.cell([cell_number(interval, (group,), style)])["text"]
    return text


def labels_of(plan: MomentsPlan) -> list[list[str]]:
    """Each group's value of each column, in order."""
    if not plan.groups.attributes:
        return [[]]
    texts = [cell_names(attribute) for attribute in plan.groups.attributes]
    places = np.unravel_index(np.arange(plan.groups.size), plan.groups.shape)
    return [[text[i] for text, i in zip(texts, row, strict=True)] for row in zip(*places, strict=True)]


def has_undeclared(plan: MomentsPlan) -> bool:
    """Whether a group is that of values that were not declared."""
    return any(isinstance(a, Categorical) and a.undeclared is not None for a in plan.groups.attributes)


def names_of(plan: MomentsPlan) -> list[str]:
    """What each group is called."""
    return [listed(labels) for labels in labels_of(plan)]
