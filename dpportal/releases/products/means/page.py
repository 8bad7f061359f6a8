"""What the public page of totals and means shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.group_means import means_figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.means.tables import statistics
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.products.shared.numbers import decimals_for, number_text
from mechanisms.accounting import plainly
from mechanisms.arrays import Floats
from mechanisms.moments.column import day_of
from mechanisms.moments.estimates import ColumnEstimates, Interval
from mechanisms.moments.plan import ColumnPlan, MomentsPlan

# Groups on a page, of all columns together, but of each so many at least: a visitor waits for every cell.
MOST_ROWS, FEWEST_ROWS = 500, 20
UNITS = {"share": " %", "days": gettext_lazy(" days")}


def page(plan: MomentsPlan, result: GroupMeans) -> Json:
    """A section for each measured column: its table, and a chart where there are groups."""
    columns = [_section(plan, result, place) for place in range(len(plan.columns))]
    drawn = [column["figure"] for column in columns if "figure" in column]
    return {
        # What the catalogue's small picture is made of.
        **({"figure": drawn[0]} if drawn else {}),
        "finding": [_finding(plan, result, place) for place in range(len(plan.columns))],
        "group_names": list(plan.groups.names),
        "groups": plan.groups.size,
        "deviation": plan.degree > 1,
        "columns": columns,
    }


def _finding(plan: MomentsPlan, result: GroupMeans, place: int) -> Json:
    """A column's mean over all with its interval, and the groups with the highest and the lowest."""
    planned, style = plan.columns[place], styles_of(plan.columns[place], plan.degree)["mean"]
    everyone = result.together[place] if result.together else result.groups[place]
    mean = cell_of(everyone.mean, 0, style)
    means = result.groups[place].mean
    known = np.flatnonzero(~np.isnan(means.estimate))
    ends: Json = {}
    if plan.groups.size > 1 and known.size > 1:
        # By the ends of the intervals: a group of a few people is no extreme because its noise is.
        highest, lowest = known[np.argmax(means.lower[known])], known[np.argmin(means.upper[known])]
        names, which = names_of(plan), {"highest": int(highest), "lowest": int(lowest)}
        if highest != lowest:
            ends = {end: {"name": names[g], **cell_of(means, g, style)} for end, g in which.items()}
    shown = {} if plan.groups.size > 1 and not result.together else {"mean": mean}
    return {"column": planned.column.attribute.name, **shown, **ends}


def _section(plan: MomentsPlan, result: GroupMeans, place: int) -> Json:
    planned, estimates = plan.columns[place], result.groups[place]
    styles = styles_of(planned, plan.degree)
    most = max(FEWEST_ROWS, MOST_ROWS // len(plan.columns))
    rows = [row_of(labels, estimates, group, styles) for group, labels in enumerate(labels_of(plan)[:most])]
    if result.together:
        rows.insert(0, row_of([_("All")] * len(plan.groups.names), result.together[place], 0, styles))
    lower, upper = planned.column.bound_texts
    shown: Json = {
        "name": planned.column.attribute.name,
        "place": f"means-{place}",
        "rows": rows,
        **({"first_groups": most} if plan.groups.size > most else {}),
        "is_date": planned.column.is_date,
        "lower": lower,
        "upper": upper,
        "step": plainly(planned.column.step),
        "mostly_cut": _is_mostly_cut(result.together[place] if result.together else estimates),
    }
    if has_chart(plan, planned):
        figure = means_figure(
            shown["name"], names_of(plan), *means_of(estimates), by=" × ".join(plan.groups.names)
        )
        shown["figure"] = figure_json(figure)
    return shown


def _is_mostly_cut(all_groups: ColumnEstimates) -> bool:
    """Whether surely more than half of the values lie at or beyond one bound; by what is released."""
    return any(float(np.max(share.lower)) > 1 / 2 for share in (all_groups.at_lower, all_groups.at_upper))


def has_chart(plan: MomentsPlan, planned: ColumnPlan) -> bool:
    """Whether means of groups are drawn: those of dates are in the table alone."""
    return plan.groups.size > 1 and not planned.column.is_date


def means_of(estimates: ColumnEstimates) -> tuple[Floats, tuple[Floats, Floats]]:
    """A column's means, and the ends of their intervals."""
    return estimates.mean.estimate, (estimates.mean.lower, estimates.mean.upper)


def styles_of(planned: ColumnPlan, degree: int) -> dict[str, str]:
    """How each statistic of a column is written: as a number, a share, a day or a number of days."""
    is_date = planned.column.is_date
    total = {} if is_date else {"total": "number"}
    deviation = {"deviation": "days" if is_date else "number"} if degree > 1 else {}
    shares = {"share_at_low": "share", "share_at_high": "share"}
    mean = {"mean": "day" if is_date else "number"}
    return {"number": "number", **total, **mean, **deviation, "without_value": "number", **shares}


def row_of(labels: Sequence[str], estimates: ColumnEstimates, group: int, styles: Mapping[str, str]) -> Json:
    """A group's labels, and of each number its text, its margin and what it is sorted by."""
    intervals = statistics(estimates)
    return {
        "labels": list(labels),
        "cells": [cell_of(intervals[name], group, styles[name]) for name in styles],
    }


def cell_of(interval: Interval, group: int, style: str = "number") -> Json:
    """style: as of `styles_of`."""
    value, low, high = (float(x[group]) for x in (interval.estimate, interval.lower, interval.upper))
    if math.isnan(value):
        return {"value": "", "range": "", "sort": -1e300}
    decimals = decimals_for((100 if style == "share" else 1) * (high - low) / 2)
    margin = (100 if style == "share" else 1) * max(high - value, value - low)
    days = _("± %(margin)s days") if style in ("day", "days") else "± %(margin)s"
    return {
        "value": written(value, decimals, style) + str(UNITS.get(style, "")),
        "range": days % {"margin": number_text(margin, decimals)},
        "sort": value,
    }


def written(value: float, decimals: int, style: str) -> str:
    """A statistic without its unit."""
    if style == "day":
        return day_of(value).isoformat()
    return number_text(100 * value if style == "share" else value, decimals)


def labels_of(plan: MomentsPlan) -> list[list[str]]:
    """Each group's value of each column, in order."""
    if not plan.groups.attributes:
        return [[]]
    texts = [attribute.labels() for attribute in plan.groups.attributes]
    places = np.unravel_index(np.arange(plan.groups.size), plan.groups.shape)
    return [[text[i] for text, i in zip(texts, row, strict=True)] for row in zip(*places, strict=True)]


def names_of(plan: MomentsPlan) -> list[str]:
    """What each group is called."""
    return [listed(labels) for labels in labels_of(plan)]
