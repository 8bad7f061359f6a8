"""The released table with the true numbers in it, for the curator alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpportal.platform.json_types import Json
from dpportal.releases.products.summary.page import shown_blocks, table_json
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms.arrays import Integers
from mechanisms.summary.column_estimates import Summary
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.statistics import Statistic, statistics
from mechanisms.summary.truth import true_summary

HEADER = (
    "column",
    "statistic",
    "value",
    "whose",
    "group",
    "reference",
    "released",
    "interval_lower",
    "interval_upper",
    "true",
)


def build(plan: SummaryPlan, summary: Summary, values: Integers) -> Json:
    """What the compare page shows. values: the exact integers that were measured."""
    truth = true_summary(plan, values)
    table = TableOne(plan, summary, truth)
    blocks = shown_blocks(table)
    pairs = list(_pairs(plan, summary, truth))
    inside = [own.lower <= true.estimate <= own.upper for own, true in pairs if not np.isnan(own.estimate)]
    return {
        "header": HEADER,
        "table": [_line(own, true) for own, true in pairs],
        "table_one": table_json(table, blocks),
        "inside": float(np.mean(inside)) if inside else None,
        "in_steps": [line.attribute.shown_name for line in plan.lines.values() if line.floor_error],
        "in_cells": [line.attribute.shown_name for line in plan.lines.values() if not line.is_single_valued],
        "share_error": _median_error(pairs, "share", {}),
        "mean_error": _median_error(pairs, "mean", _ranges(plan)),
        "further": len(plan.columns) - len(blocks),
    }


def _pairs(plan: SummaryPlan, summary: Summary, truth: Summary) -> Iterator[tuple[Statistic, Statistic]]:
    """Each released number with the true one, where there is a true one."""
    for own, true in zip(statistics(plan, summary), statistics(plan, truth), strict=True):
        if not np.isnan(true.estimate):
            yield own, true


def _line(own: Statistic, true: Statistic) -> list[str | float | None]:
    numbers = (own.estimate, own.lower, own.upper, true.estimate)
    named = [own.column, own.statistic, own.value, own.whose, own.group, own.reference]
    return [*named, *(None if np.isnan(number) else float(f"{number:.10g}") for number in numbers)]


def _median_error(
    pairs: Sequence[tuple[Statistic, Statistic]], statistic: str, ranges: Mapping[str, float]
) -> float | None:
    """The middle one of the errors' sizes, each over its column's range; None where nothing is told."""
    errors = [
        abs(own.estimate - true.estimate) / ranges.get(own.column, 1.0)
        for own, true in pairs
        if own.statistic == statistic and not np.isnan(own.estimate)
    ]
    return float(np.median(errors)) if errors else None


def _ranges(plan: SummaryPlan) -> dict[str, float]:
    return {name: float(line.measured.top - line.measured.lower) for name, line in plan.lines.items()}
