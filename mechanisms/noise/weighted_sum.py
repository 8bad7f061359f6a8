"""How far a weighted sum of independent noises of one law reaches, by its characteristic function."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from mechanisms.noise.laws import DiscreteLaplace, NoiseLaw
from mechanisms.noise.sum_quantiles import LEVEL

# The density is looked at on a circle of so many standard errors, around which no sum of two-sided noise reaches.
_CIRCLE = 80.0
# Where the characteristic function is below this, the rest of the series is left out; the level is raised by as much.
_NEGLIGIBLE = 1e-5
_ANGLES = 2**13
# Weights are rounded up to whole parts of the largest one; float errors around round weights change nothing.
_EQUAL = 10**9


@lru_cache(maxsize=4096)
def weighted_half_width(
    law: NoiseLaw, weights: tuple[float, ...], times: int = 1, level: float = LEVEL
) -> float:
    """An h so that w_1 K_1 + ... + w_n K_n lies within ±h with probability at least `level`.

    weights: of independent noises K_i of the law, each of which comes so many times.

    The noise on the integers is no farther than 1 from a continuous one: |K| = ⌊|X| + c⌋ for Laplace X and a c in
    [0, 1] (`sampler`), and a Gaussian likewise. So h is the continuous sum's quantile and Σ|w_i| more.
    """
    used = np.abs([w for w in weights if w])
    if not used.size:
        return 0.0
    margin = times * float(used.sum())
    if not isinstance(law, DiscreteLaplace):
        sigma = math.sqrt(law.variance_parameter * times) * float(np.linalg.norm(used))
        return float(ndtri((1 + level) / 2)) * sigma + margin
    scale = float(law.scale)
    # In units of the largest weight's noise, so that no width leaves the floats.
    largest = float(used.max())
    # Sums of many columns are alike but for their widths: rounded up, in order, their quantile is found once. A larger
    # weight never reaches less far, since sums of symmetric unimodal laws only spread (Wintner 1938).
    alike = tuple(sorted(((np.floor(used / largest * _EQUAL + 1 / 4) + 1) / _EQUAL).tolist()))
    return _laplace_quantile(alike, times, level) * largest * scale + margin


@lru_cache(maxsize=4096)
def _laplace_quantile(weights: tuple[float, ...], times: int, level: float) -> float:
    """The quantile of |Σ w_i X_i| for standard Laplace X_i, each so many times."""
    error = math.sqrt(2 * times) * math.hypot(*weights)
    k = np.arange(1, _ANGLES + 1)
    delta = 2 * math.pi / (_CIRCLE * error)
    logs = -times * np.log1p(np.multiply.outer(delta * k, weights) ** 2).sum(axis=1)
    significant = logs > math.log(_NEGLIGIBLE)
    k, coefficients = k[significant], 2 / math.pi * np.exp(logs[significant]) / k[significant]

    def excess(x: float) -> float:
        covered = delta * x / math.pi + float(np.sin(delta * x * k) @ coefficients)
        return covered - level - _NEGLIGIBLE

    # By Chebyshev's inequality no quantile is farther than where the search ends.
    return float(brentq(excess, 0.0, math.sqrt(1 / (1 - level)) * error, xtol=1e-6 * error))
