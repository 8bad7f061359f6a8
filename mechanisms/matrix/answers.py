"""How sure the least-squares answers are: standard errors, intervals, and sums or differences of answers."""

from __future__ import annotations

import math

import numpy as np

from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import half_widths


def standard_errors(law: NoiseLaw, strategy: Strategy, workload: Workload) -> np.ndarray:
    """Standard error of every answer, (q,) in rows; the root of the diagonal of W (AᵀA)⁺ Wᵀ times the variance."""
    parts = [strategy.variances(term) for term in workload.terms]
    return np.sqrt(law.variance * np.concatenate(parts).astype(np.float64))


def covariance(
    law: NoiseLaw, strategy: Strategy, workload: Workload, one: np.ndarray, other: np.ndarray
) -> float:
    """Covariance of two weighted sums of answers, in rows².

    one, other: (q,) weights of the answers; for two single answers 1 at the place of each and 0 elsewhere.
    """
    return law.variance * float(workload.transposed(one) @ strategy.solve(workload.transposed(other)))


def combined(
    law: NoiseLaw, strategy: Strategy, workload: Workload, weights: np.ndarray
) -> tuple[float, float]:
    """Standard error and 95 % half-width of a weighted sum of answers, such as a sum or a difference, in rows.

    weights: (q,).
    """
    error = math.sqrt(max(0.0, covariance(law, strategy, workload, weights, weights)))
    return error, float(half_widths(law, np.array(error)))
