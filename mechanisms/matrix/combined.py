"""Sums and differences of answers: how sure they are, from the plan alone."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from mechanisms.matrix import answers
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.marginals.sets import Axes, term_axes
from mechanisms.matrix.marginals.tables import projected
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan
from mechanisms.noise.sum_quantiles import half_widths


def combined_error(mechanism: QueryMechanism, plan: QueryPlan, weights: np.ndarray) -> tuple[float, float]:
    """Standard error and 95 % half-width of a weighted sum of answers, in rows.

    weights: (q,). Raises TypeError for a mechanism whose answers' covariance is not known.
    """
    if isinstance(mechanism, MatrixMechanism):
        return answers.combined(plan.noise, strategy_of(mechanism, plan), plan.workload, weights)
    if isinstance(mechanism, MarginalMechanism):
        error = math.sqrt(plan.noise.variance * _variance(mechanism, plan, weights))
        return error, float(half_widths(plan.noise, np.array(error)))
    raise TypeError(f"the covariance of answers by {mechanism.title} is not known")


def _variance(mechanism: MarginalMechanism, plan: QueryPlan, weights: np.ndarray) -> float:
    """Of a weighted sum of cells of marginal tables, with noise of variance 1.

    Residuals z_R are uncorrelated, z_R with covariance (P ⊗ ... ⊗ P)/κ_R, so a sum with coefficients c_R has the
    variance Σ_R ‖(P ⊗ ... ⊗ P) c_R‖²/κ_R. A cell of the table A holds z_R once for each of its own cells, divided
    by the cells of the columns in A \\ R.
    """
    closed = mechanism.closed(plan)
    information = mechanism.information(plan, closed)
    coefficients: dict[Axes, np.ndarray] = {}
    for axes, (_term, place) in zip(term_axes(plan.workload), plan.workload.offsets(), strict=True):
        if weights[place].any():
            table = weights[place].reshape(closed.table_shape(axes))
            for own_axes in (k for r in range(len(axes) + 1) for k in combinations(axes, r)):
                rest = tuple(j for j, axis in enumerate(axes) if axis not in own_axes)
                coefficients[own_axes] = coefficients.get(own_axes, 0.0) + table.mean(axis=rest)
    squares = {axes: float((projected(c[None]) ** 2).sum()) for axes, c in coefficients.items()}
    return float(sum(square / information[closed.index[axes]] for axes, square in squares.items()))
