"""What the public page of totals and means shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.group_means import means_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.means.numbers import decimals_for, number_text
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.means.tables import statistics
from dpportal.releases.products.shared.figures import figure_json
from mechanisms.accounting import plainly
from mechanisms.arrays import Floats
from mechanisms.moments.estimates import ColumnEstimates, Interval
from mechanisms.moments.plan import ColumnPlan, MomentsPlan

MOST_ROWS = 500
SHARES = ("share_at_low", "share_at_high")


def page(plan: MomentsPlan, result: GroupMeans) -> Json:
    """A section for each measured column: its table, and a chart where there are groups."""
    return {
        "group_names": list(plan.groups.names),
        "groups": plan.groups.size,
        "deviation": plan.degree > 1,
        "columns": [_section(plan, result, place) for place in range(len(plan.columns))],
    }


def _section(plan: MomentsPlan, result: GroupMeans, place: int) -> Json:
    planned, estimates = plan.columns[place], result.groups[place]
    rows = [row_of(labels, estimates, group) for group, labels in enumerate(labels_of(plan)[:MOST_ROWS])]
    if result.together:
        rows.insert(0, row_of([_("All")] * len(plan.groups.names), result.together[place], 0))
    shown = {
        "name": planned.column.attribute.name,
        "place": f"means-{place}",
        "rows": rows,
        **_bounds(planned),
    }
    if plan.groups.size > 1:
        figure = means_figure(shown["name"], names_of(plan), *means_of(estimates))
        shown["figure"] = figure_json(figure)
    return shown


def _bounds(planned: ColumnPlan) -> Json:
    column = planned.column
    return {
        "lower": plainly(column.lower),
        "upper": plainly(column.top),
        "step": plainly(column.step),
        "whole_steps": column.step == 1,
    }


def means_of(estimates: ColumnEstimates) -> tuple[Floats, tuple[Floats, Floats]]:
    return estimates.mean.estimate, (estimates.mean.lower, estimates.mean.upper)


def row_of(labels: Sequence[str], estimates: ColumnEstimates, group: int) -> Json:
    """A group's labels, and of each number its text, its interval's and what it is sorted by."""
    told = statistics(estimates)
    cells = [cell_of(told[name], group, percent=name in SHARES) for name in told]
    return {"labels": list(labels), "cells": cells}


def cell_of(told: Interval, group: int, *, percent: bool = False) -> Json:
    times = 100 if percent else 1
    value, low, high = (times * float(x[group]) for x in (told.estimate, told.lower, told.upper))
    if math.isnan(value):
        return {"value": "", "range": "", "sort": -1e300}
    decimals = decimals_for((high - low) / 2)
    sign = " %" if percent else ""
    ends = (number_text(x, decimals) for x in (low, high))
    return {
        "value": number_text(value, decimals) + sign,
        "range": _("%(low)s to %(high)s") % dict(zip(("low", "high"), ends, strict=True)),
        "sort": value,
    }


def labels_of(plan: MomentsPlan) -> list[list[str]]:
    """Each group's value of each column, in order."""
    if not plan.groups.attributes:
        return [[]]
    texts = [attribute.labels() for attribute in plan.groups.attributes]
    places = np.unravel_index(np.arange(plan.groups.size), plan.groups.shape)
    return [[text[i] for text, i in zip(texts, row, strict=True)] for row in zip(*places, strict=True)]


def names_of(plan: MomentsPlan) -> list[str]:
    return [", ".join(labels) for labels in labels_of(plan)]
