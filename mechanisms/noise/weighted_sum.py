"""How far a weighted sum of independent noises of one law reaches, by its characteristic function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from mechanisms.arrays import Floats, Integers
from mechanisms.noise.laws import DiscreteLaplace, NoiseLaw
from mechanisms.noise.sum_quantiles import LEVEL

# The density is looked at on a circle of so many standard errors, around which no sum of two-sided noise reaches.
_CIRCLE = 80.0
# Where the characteristic function is below this, the rest of the series is left out; the level is raised by as much.
_NEGLIGIBLE = 1e-5
_ANGLES = 2**13
# Weights are rounded up to whole parts of the largest one; float errors around round weights change nothing.
_EQUAL = 10**9


# Weights of independent noises, and how many times each of them comes.
Repeated = tuple[tuple[float, ...], int]
_NONE: Repeated = ((), 0)


@lru_cache(maxsize=4096)
def weighted_half_width(
    law: NoiseLaw,
    weights: tuple[float, ...],
    times: int = 1,
    level: float = LEVEL,
    others: Repeated = _NONE,
) -> float:
    """An h so that w_1 K_1 + ... + w_n K_n lies within ±h with probability at least `level`.

    weights: of independent noises K_i of the law, each of which comes so many times. others: further ones.

    The noise on the integers is no farther than 1 from a continuous one: |K| = ⌊|X| + c⌋ for Laplace X and a c in
    [0, 1] (`sampler`), and a Gaussian likewise. So h is the continuous sum's quantile and Σ|w_i| more.
    """
    used, repeated = _used([(weights, times), others])
    if not used.size:
        return 0.0
    margin = float(repeated @ used)
    if not isinstance(law, DiscreteLaplace):
        sigma = math.sqrt(law.variance_parameter * float(repeated @ used**2))
        return float(ndtri((1 + level) / 2)) * sigma + margin
    scale = float(law.scale)
    # In units of the largest weight's noise, so that no width leaves the floats.
    largest = float(used.max())
    # Sums of many columns are alike but for their widths: rounded up, in order, their quantile is found once. A larger
    # weight never reaches less far, since sums of symmetric unimodal laws only spread (Wintner 1938).
    rounded = (np.floor(used / largest * _EQUAL + 1 / 4) + 1) / _EQUAL
    alike = tuple(sorted(zip(rounded.tolist(), repeated.tolist(), strict=True)))
    return _laplace_quantile(alike, level) * largest * scale + margin


def _used(parts: Sequence[Repeated]) -> tuple[Floats, Integers]:
    """The sizes of all weights that are not 0, and how many times each comes."""
    pairs = [(abs(weight), times) for weights, times in parts for weight in weights if weight and times]
    return np.array([weight for weight, _ in pairs]), np.array([times for _, times in pairs], dtype=np.int64)


@lru_cache(maxsize=4096)
def _laplace_quantile(weights: tuple[tuple[float, int], ...], level: float) -> float:
    """The quantile of |Σ w_i X_i| for standard Laplace X_i. weights: each with how many times it comes."""
    sizes, times = (np.array(each) for each in zip(*weights, strict=True))
    error = math.sqrt(2 * float(times @ sizes**2))
    k = np.arange(1, _ANGLES + 1)
    delta = 2 * math.pi / (_CIRCLE * error)
    logs = -np.log1p(np.multiply.outer(delta * k, sizes) ** 2) @ times
    significant = logs > math.log(_NEGLIGIBLE)
    k, coefficients = k[significant], 2 / math.pi * np.exp(logs[significant]) / k[significant]

    def excess(x: float) -> float:
        covered = delta * x / math.pi + float(np.sin(delta * x * k) @ coefficients)
        return covered - level - _NEGLIGIBLE

    # By Chebyshev's inequality no quantile is farther than where the search ends.
    return float(brentq(excess, 0.0, math.sqrt(1 / (1 - level)) * error, xtol=1e-6 * error))
