"""What only the curator sees: released beside true counts, with each error beside what the plan led to expect."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpportal.releases import charts, results
from dpportal.releases.models import Release
from mechanisms.error import expected_error, simulated_total_variation
from mechanisms.evaluate import observed_error
from mechanisms.mechanism import Plan, Result


def build(release: Release, result: Result, true: np.ndarray) -> dict[str, Any]:
    """The compare page as JSON: figures, error table, first cells. Holds true counts; stored with the records."""
    plan = release.plan
    return {
        "figures": _figures(plan, result, true),
        "errors": _errors(release, result, true),
        "table": _table(release, result, true),
        "cells": plan.domain.size,
    }


def _figures(plan: Plan, result: Result, true: np.ndarray) -> dict[str, Any]:
    arrays = {"raw": result.raw, "counts": result.counts, "true": true}
    figures = {
        "counts": charts.counts_figure(plan.domain, half_width=plan.half_width, **arrays),
        "residuals": charts.residuals_figure(plan.domain, half_width=plan.half_width, **arrays),
    }
    for attribute in plan.domain.attributes:
        if attribute.ordered:
            figures[f"cumulative: {attribute.name}"] = charts.cumulative_figure(
                plan.domain, attribute.name, **arrays
            )
    return {
        name: {"json": figure.json, "title": figure.title, "caption": figure.caption}
        for name, figure in figures.items()
    }


def _errors(release: Release, result: Result, true: np.ndarray) -> list[dict[str, Any]]:
    """One row a measure: expected of the raw counts, observed for raw and for post-processed counts."""
    plan, people = release.plan, max(1, int(true.sum()))
    expected = expected_error(plan.noise, plan.domain.size, plan.half_width, people)
    raw, counts = (observed_error(true, c, plan.half_width) for c in (result.raw, result.counts))
    after = simulated_total_variation(plan.noise, plan.domain.size, people, shape="skewed")
    fields = ("total_variation", "l1", "l2", "largest", "inside")
    rows = [
        {"measure": f, "expected": getattr(expected, f), "raw": getattr(raw, f), "counts": getattr(counts, f)}
        for f in fields
    ]
    rows[0]["expected_counts"] = after
    return [{k: None if isinstance(v, float) and v != v else v for k, v in row.items()} for row in rows]


def _table(release: Release, result: Result, true: np.ndarray) -> list[list[Any]]:
    rows = results.first_cells(release, result)
    return [[*row, int(t)] for row, t in zip(rows, true[: len(rows)], strict=True)]
