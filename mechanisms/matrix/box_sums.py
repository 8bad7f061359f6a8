"""Sums of cells that a strategy's answers determine, over a box, with intervals by their covariance."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import box_queries
from mechanisms.box_queries import CellSum, Picks
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.noise.sum_quantiles import half_widths

# Of a query's length, what may be left of it where the sums determine it.
_LEFT = 1e-7


def cell_sum(mechanism: MatrixMechanism, plan: QueryPlan, values: np.ndarray, picks: Picks) -> CellSum | None:
    """The least-squares estimate of the box's cells added up; None if the strategy's sums do not determine it.

    values: (p,) the measurement. With q the box and h = (AᵀA)⁺ q the estimate is h·Aᵀy, its variance σ² q·h.
    """
    strategy = strategy_of(mechanism, plan)
    query = box_queries.flags(plan.domain.shape, picks).astype(np.float64)
    h = strategy.solve(query)
    left = float(np.linalg.norm(strategy.gram_times(h) - query))
    if not strategy.complete and left > _LEFT * float(np.linalg.norm(query)):
        return None
    error = math.sqrt(plan.noise.variance * max(0.0, float(query @ h)))
    estimate = float(h @ strategy.transposed_times(values))
    return CellSum(estimate, float(half_widths(plan.noise, np.array(error))), box_queries.size(picks))
