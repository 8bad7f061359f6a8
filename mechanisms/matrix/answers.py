"""How sure the least-squares answers are: standard errors, intervals, and sums or differences of answers."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import DiscreteLaplace, NoiseLaw

LEVEL = 0.95


def standard_errors(law: NoiseLaw, strategy: Strategy, workload: Workload) -> np.ndarray:
    """Standard error of every answer, (q,) in rows; the root of the diagonal of W (AᵀA)⁺ Wᵀ times the variance."""
    parts = [strategy.variances(term) for term in workload.terms]
    return np.sqrt(law.variance * np.concatenate(parts).astype(np.float64))


def half_widths(law: NoiseLaw, errors: np.ndarray, largest: float = math.inf) -> np.ndarray:
    """For each answer an h so that answer ± h holds the true answer with probability at least 0.95, in rows.

    errors: standard errors of the answers. largest: how much of one noise is in an answer at most, where that is
    known. A weighted sum of Laplace noises of given variance reaches farthest, at this level, where it is a single one;
    of Gaussian noises all reach equally far. Discrete noise can hide half a step of the tail; a step is at most the
    largest coefficient, and that is at most the answer's standard error over the noise's.
    """
    return reach(law) * errors + np.minimum(largest, errors / law.standard_error) / 2


def reach(law: NoiseLaw) -> float:
    """Half the width of a 95% interval in standard errors, the largest over all weighted sums of the noise."""
    if isinstance(law, DiscreteLaplace):
        return math.log(1 / (1 - LEVEL)) / math.sqrt(2)
    return float(ndtri((1 + LEVEL) / 2))


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
    """Standard error and 95% half-width of a weighted sum of answers, such as a sum or a difference, in rows.

    weights: (q,).
    """
    variance = max(0.0, covariance(law, strategy, workload, weights, weights))
    error = math.sqrt(variance)
    return error, float(half_widths(law, np.array(error)))
