"""What only the curator sees: released beside true counts, with each error beside what the plan led to expect."""

from __future__ import annotations

import numpy as np

from dpportal.charts.counts import counts_figure, cumulative_figure, residuals_figure
from dpportal.charts.differences import difference_figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.histogram.page import first_cells, interval, labels_of
from dpportal.releases.products.shared.figures import as_integers, figure_json
from mechanisms.arrays import let_go, runs, summed
from mechanisms.error import expectation
from mechanisms.evaluate import observed_error
from mechanisms.protocol import Plan, Result

WORST = 20
SORTED_AT_ONCE = 1 << 16


def build(plan: Plan, result: Result, true: np.ndarray) -> Json:
    """The compare page as JSON: figures, error table, first cells. Holds true counts; stored with the records."""
    return {
        "figures": _figures(plan, result, true),
        "errors": {row["measure"]: row for row in _errors(plan, result, true)},
        "header": _header(plan, result),
        "table": _table(plan, result, true),
        "worst": _worst(plan, result, true),
        "cells": plan.domain.size,
        "interval": interval(plan, result),
        "method": result.method,
    }


def _figures(plan: Plan, result: Result, true: np.ndarray) -> Json:
    raw, counts, half_width = as_integers(result.raw), result.counts, interval(plan, result)
    figures = {
        "counts": counts_figure(
            plan.domain, raw=raw, counts=counts, true=true, half_width=half_width, partition=result.partition
        ),
        "residuals": residuals_figure(plan.domain, raw=raw, counts=counts, true=true, half_width=half_width),
    }
    if len(plan.domain.attributes) > 1:
        figures["difference"] = difference_figure(plan.domain, raw=raw, true=true, half_width=half_width)
    for place, attribute in enumerate(plan.domain.attributes):
        if attribute.ordered:
            cumulative = cumulative_figure(plan.domain, attribute.name, raw=raw, counts=counts, true=true)
            figures[f"cumulative-{place}"] = cumulative
    return {name: figure_json(figure) for name, figure in figures.items()}


def _errors(plan: Plan, result: Result, true: np.ndarray) -> list[Json]:
    """One row a measure: expected of the raw counts, observed for raw and for adjusted counts."""
    people, half_width = max(1, summed(true)), interval(plan, result)
    expected = expectation(plan, people)
    raw, counts = (observed_error(true, c, half_width or 0) for c in (as_integers(result.raw), result.counts))
    fields = ["total_variation", "l1", "l2", "largest"] + ([] if half_width is None else ["inside"])
    rows = [
        {
            "measure": f,
            "expected": getattr(expected, f, None),
            "raw": getattr(raw, f),
            "counts": getattr(counts, f),
        }
        for f in fields
    ]
    return [{k: None if isinstance(v, float) and v != v else v for k, v in row.items()} for row in rows]


def _table(plan: Plan, result: Result, true: np.ndarray) -> list[list[object]]:
    rows = first_cells(plan, result)
    return [[*row, int(t)] for row, t in zip(rows, true[: len(rows)], strict=True)]


def _worst(plan: Plan, result: Result, true: np.ndarray) -> list[list[object]]:
    """Labels, noisy, synthetic and true count, and error of the cells whose noisy counts are farthest off."""
    cells = farthest(result.raw, true, WORST)
    labels = labels_of(plan.domain, cells)
    raw, counts, actual = (
        as_integers(_counts_at(result.raw, cells)),
        _counts_at(result.counts, cells),
        _counts_at(true, cells),
    )
    numbers = (raw.tolist(), counts.tolist(), actual.tolist(), (raw - actual).tolist())
    return [list(row) for row in zip(*labels, *numbers, strict=True)]


def _counts_at(counts: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The counts of a few cells; of a mapped file each brings many neighbours into memory, which leave it again."""
    chosen: np.ndarray = counts[cells]
    let_go(counts)
    return chosen


def farthest(raw: np.ndarray, true: np.ndarray, most: int) -> np.ndarray:
    """The places of the `most` largest differences, the largest first; arrays in files are read a run at a time."""
    best, differences = np.empty(0, dtype=np.int64), np.empty(0)
    for run in runs(raw.size, SORTED_AT_ONCE):
        errors = np.abs(raw[run] - true[run])
        let_go(raw, true)
        top = np.argpartition(errors, -most)[-most:] if errors.size > most else np.arange(errors.size)
        best, differences = (
            np.concatenate([best, run.start + top]),
            np.concatenate([differences, errors[top]]),
        )
        order = np.lexsort((best, -differences))[:most]
        best, differences = best[order], differences[order]
    return best


def _header(plan: Plan, result: Result) -> list[str]:
    bounds = [] if interval(plan, result) is None else ["interval_lower", "interval_upper"]
    return [*plan.domain.names, "noisy_count", "count", *bounds, "true_count"]
