"""Released beside true statistics, for the curator alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpportal.charts.group_means import means_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.means.page import (
    MOST_ROWS,
    decimals_of,
    has_chart,
    labels_of,
    names_of,
    styles_of,
)
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.means.tables import statistics
from dpportal.releases.products.shared.cells import SINGLE, cell_number
from dpportal.releases.products.shared.figures import figure_json
from mechanisms.arrays import Integers
from mechanisms.moments.estimates import Interval
from mechanisms.moments.mechanism import LARGEST_SUM, ROOM
from mechanisms.moments.plan import MomentsPlan
from mechanisms.moments.truth import true_statistics


def build(plan: MomentsPlan, result: GroupMeans, true: Integers) -> Json:
    """What the compare page shows. true: the exact sums that were measured."""
    sections = [_compared(plan, result, place, true[place]) for place in range(len(plan.columns))]
    inside = [hit for section in sections for hit in section.pop("hits")]
    errors = [error for section in sections for error in section.pop("errors")]
    return {
        "header": [
            *plan.groups.names,
            "measured",
            *(f"{n}{t}" for n in _compared_statistics(plan) for t in ("", "_true")),
        ],
        "table": [row for section in sections for row in section.pop("lines")],
        "group_names": list(plan.groups.shown_names),
        "deviation": plan.degree > 1,
        "counts_rows": plan.loss.unit.counts_rows,
        "columns": sections,
        "inside": float(np.mean(inside)) if inside else None,
        "in_steps": [c.column.attribute.shown_name for c in plan.columns if c.column.floor_error],
        "error": float(np.median(np.abs(errors))) if errors else None,
        # Groups with more than `room` times as many rows as were expected in all.
        "room": ROOM,
        "cut": int((true >= LARGEST_SUM).any(axis=(0, 2)).sum()),
    }


def _compared_statistics(plan: MomentsPlan) -> tuple[str, ...]:
    return ("number", "total", "mean", "deviation") if plan.degree > 1 else ("number", "total", "mean")


def _compared(plan: MomentsPlan, result: GroupMeans, place: int, true: Integers) -> Json:
    planned, released = plan.columns[place], statistics(result.groups[place])
    truth = true_statistics(planned, plan.degree, true)
    styles, labels = styles_of(planned, plan.degree), labels_of(plan)
    names = [name for name in _compared_statistics(plan) if name in styles]
    span = float(planned.column.top - planned.column.lower)
    hits = {n: (released[n].lower <= truth[n]) & (truth[n] <= released[n].upper) for n in names}
    exact = {n: Interval(truth[n], truth[n], truth[n]) for n in names}
    known = {n: ~np.isnan(released[n].estimate) & ~np.isnan(truth[n]) for n in names}
    shown_groups = range(min(plan.groups.size, MOST_ROWS))
    parts = [
        [cell_number(released[n], (group,), styles[n], exact[n]) for n in names] for group in shown_groups
    ]
    rows = [
        {"labels": labels[group], "cells": [SINGLE.cell([part]) for part in row]}
        for group, row in zip(shown_groups, parts, strict=True)
    ]
    name = planned.column.attribute.shown_name
    lines = _lines(plan, planned.column.attribute.name, {n: (released[n].estimate, truth[n]) for n in names})
    shown: Json = {"name": name, "place": f"means-{place}", "rows": rows, "lines": lines}
    shown["is_date"] = planned.column.is_date
    if has_chart(plan, planned):
        figure = means_figure(
            name,
            names_of(plan),
            result.groups[place].mean,
            decimals_of(result.groups[place].mean),
            true=truth["mean"],
            by=" × ".join(plan.groups.shown_names),
        )
        shown["figure"] = figure_json(figure)
    return {
        **shown,
        "hits": [bool(hit) for n in names for hit in hits[n][known[n]]],
        "errors": ((released["mean"].estimate - truth["mean"])[known["mean"]] / span).tolist(),
    }


def _lines(
    plan: MomentsPlan, name: str, numbers: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> list[list[Any]]:
    """A line a group for the file: each statistic as it was released and as it is, empty where the column has none."""
    labels, nothing = labels_of(plan), np.full(plan.groups.size, np.nan)
    series = [each for n in _compared_statistics(plan) for each in numbers.get(n, (nothing, nothing))]
    return [[*labels[g], name, *(_plain(x[g]) for x in series)] for g in range(plan.groups.size)]


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.10g}")
