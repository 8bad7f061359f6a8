"""Sums of cells that measured marginal tables determine, over a box, with intervals in closed form.

A box picks s_i of the n_i cells of the columns C, and all of the others: its sum is one of the marginal table of C,
which is Σ_{R ⊆ C} z_R spread evenly (see `errors`). So it is

    Σ_{R ⊆ C} Π_{i ∈ C \\ R} s_i/n_i · (the sum of z_R over the picked cells of R),

residuals of different sets are uncorrelated, and with h the picked cells of a column hᵀPh = s (1 - s/n), so that its
variance is σ² Σ_{R ⊆ C} Π_{i ∈ C \\ R} (s_i/n_i)² Π_{i ∈ R} s_i (1 - s_i/n_i) / κ_R.
Source: Xiao, He, Zhang, Kifer 2023 (ResidualPlanner), Theorem 4, summed over a box.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from mechanisms import box_queries
from mechanisms.box_queries import CellSum, Picks
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.noise.sum_quantiles import half_widths


def cell_sum(
    mechanism: MarginalMechanism, plan: QueryPlan, values: np.ndarray, picks: Picks
) -> CellSum | None:
    """The least-squares estimate of the box's cells added up; None if no table that is asked for has its columns.

    values: the measurement.
    """
    shape, closed = plan.workload.shape, mechanism.closed(plan)
    narrowed = box_queries.narrowed(shape, picks)
    if narrowed not in closed.index:
        return None
    information, residuals = mechanism.information(plan, closed), mechanism.residuals(plan, closed, values)
    estimate = variance = 0.0
    for columns in (r for size in range(len(narrowed) + 1) for r in combinations(narrowed, size)):
        place = closed.index[columns]
        residual = residuals(np.array([place]))[0]
        share = math.prod(len(picks[i]) / shape[i] for i in narrowed if i not in columns)
        left = math.prod(len(picks[i]) * (1 - len(picks[i]) / shape[i]) for i in columns)
        estimate += share * box_queries.summed(residual, residual.shape, [picks[i] for i in columns])
        variance += share**2 * left / information[place]
    error = np.array(math.sqrt(plan.noise.variance * variance))
    cells = box_queries.size([picks[i] for i in narrowed])
    return CellSum(estimate, float(half_widths(plan.noise, error)), cells)
