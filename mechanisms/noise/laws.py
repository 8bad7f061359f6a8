"""The laws of the noise, as exact values: what is added to a count, and how far from it the result may be.

A law is named by a rational parameter. Its moments and probabilities are for plans and displays and are
floats; the sampler draws from the rational parameter itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import erfc, ndtri

from mechanisms.arrays import Floats
from mechanisms.json_types import JsonObject

# Above this σ sums over the integers are replaced by Euler-Maclaurin formulas, whose next term is < 1e-12.
_WIDE = 1000.0
# Beyond this many σ the probability of a discrete Gaussian is below the smallest float.
_REACH = 39.0
# No noise reaches this far: intervals asked for beyond it hold everything.
_FAR = 2**62


@dataclass(frozen=True)
class DiscreteLaplace:
    """P(k) ∝ exp(-|k|/scale) on the integers; ε-DP for an integer of sensitivity ε·scale.

    Source: Ghosh, Roughgarden, Sundararajan 2012 (the geometric mechanism).
    """

    scale: Fraction
    name: ClassVar[str] = "discrete-laplace"

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"scale must be positive, got {self.scale}")

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    @cached_property
    def variance(self) -> float:
        """2q/(1-q)² with q = exp(-1/scale)."""
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    @cached_property
    def standard_error(self) -> float:
        return math.sqrt(self.variance)

    @property
    def mean_absolute(self) -> float:
        """E|K| = 2q/(1-q²)."""
        return -2 * math.exp(-self._rate) / math.expm1(-2 * self._rate)

    def probability(self, k: int) -> float:
        """P(K = k) = q^|k| (1-q)/(1+q)."""
        return math.tanh(self._rate / 2) * math.exp(-abs(k) * self._rate)

    def tail(self, h: Floats) -> Floats:
        """P(|K| > h) for whole numbers h >= 0: 2q^(h+1)/(1+q)."""
        return 2 / (1 + math.exp(-self._rate)) * np.exp(-(np.asarray(h, dtype=float) + 1) * self._rate)

    def coverage(self, h: int) -> float:
        """P(|K| <= h)."""
        return 0.0 if h < 0 else 1 - float(self.tail(np.array(min(h, _FAR))))

    def half_width(self, level: float = 0.95) -> int:
        """The least h with P(|K| <= h) >= level."""
        largest_tail = (1 - _checked(level)) * (1 + math.exp(-self._rate)) / 2
        return _least_width(self.coverage, level, math.ceil(-math.log(largest_tail) / self._rate) - 1)

    def to_json(self) -> dict[str, str]:
        return {"law": self.name, "scale": str(self.scale)}


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(k) ∝ exp(-k²/(2σ²)) on the integers, σ² = `variance_parameter`; Δ²/(2σ²)-zCDP.

    Its variance is a little below σ². Source: Canonne, Kamath, Steinke 2020, Theorem 4.
    """

    variance_parameter: Fraction
    name: ClassVar[str] = "discrete-gaussian"

    def __post_init__(self) -> None:
        if self.variance_parameter <= 0:
            raise ValueError(f"variance_parameter must be positive, got {self.variance_parameter}")

    @property
    def _sigma(self) -> float:
        return math.sqrt(self.variance_parameter)

    @cached_property
    def _mass(self) -> float:
        """Σ exp(-k²/(2σ²)) over all integers k."""
        if self._sigma > _WIDE:
            return math.sqrt(2 * math.pi) * self._sigma
        return float(2 * self._weights.sum() - 1)

    @cached_property
    def _weights(self) -> np.ndarray:
        """exp(-k²/(2σ²)) for k = 0, 1, ... as far as it is not zero; for σ <= 1000."""
        k = np.arange(math.ceil(_REACH * self._sigma) + 2, dtype=float)
        return np.exp(-((k / self._sigma) ** 2) / 2)

    @cached_property
    def variance(self) -> float:
        if self._sigma > _WIDE:
            return float(self.variance_parameter)
        weights = self._weights
        return float(2 * (np.arange(len(weights), dtype=float) ** 2 @ weights) / self._mass)

    @cached_property
    def standard_error(self) -> float:
        return math.sqrt(self.variance)

    @property
    def mean_absolute(self) -> float:
        """E|K|; for wide noise 2(σ² - 1/12)/mass (Euler-Maclaurin)."""
        if self._sigma > _WIDE:
            return 2 * (float(self.variance_parameter) - 1 / 12) / self._mass
        weights = self._weights
        return float(2 * (np.arange(len(weights), dtype=float) @ weights) / self._mass)

    def probability(self, k: int) -> float:
        """P(K = k)."""
        return math.exp(-((k / self._sigma) ** 2) / 2) / self._mass

    def tail(self, h: Floats) -> Floats:
        """P(|K| > h) for whole numbers h >= 0.

        For wide noise the midpoint Euler-Maclaurin formula: the integral beyond x = h + 1/2 less
        x/(12σ²)·exp(-x²/(2σ²)).
        """
        if self._sigma > _WIDE:
            x = (np.asarray(h, dtype=float) + 0.5) / self._sigma
            far: Floats = erfc(x / math.sqrt(2)) - x / (12 * self._sigma * self._mass) * np.exp(-(x**2) / 2)
            return far
        weights = self._weights
        beyond = np.cumsum(weights[::-1])[::-1] - weights
        last = np.minimum(np.asarray(h, dtype=float), len(weights) - 1).astype(np.int64)
        tails: Floats = 2 * beyond[last] / self._mass
        return tails

    def coverage(self, h: int) -> float:
        """P(|K| <= h)."""
        return 0.0 if h < 0 else 1 - float(self.tail(np.array(min(h, _FAR))))

    def half_width(self, level: float = 0.95) -> int:
        """The least h with P(|K| <= h) >= level."""
        quantile = float(ndtri((1 + _checked(level)) / 2))
        return _least_width(self.coverage, level, math.ceil(quantile * self._sigma - 0.5))

    def to_json(self) -> dict[str, str]:
        return {"law": self.name, "variance_parameter": str(self.variance_parameter)}


NoiseLaw = DiscreteLaplace | DiscreteGaussian


def law_from_json(value: JsonObject) -> NoiseLaw:
    """Build a law from what its `to_json` wrote. Raises ValueError for a law that does not exist."""
    if value["law"] == DiscreteLaplace.name:
        return DiscreteLaplace(Fraction(value["scale"]))
    if value["law"] == DiscreteGaussian.name:
        return DiscreteGaussian(Fraction(value["variance_parameter"]))
    raise ValueError(f"no noise law {value['law']!r}")


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    return level


def _least_width(coverage: Callable[[int], float], level: float, guess: int) -> int:
    """The least h >= 0 with coverage(h) >= level, from a guess that is right to within a few steps."""
    h = max(0, guess)
    while coverage(h) < level:
        h += 1
    while h > 0 and coverage(h - 1) >= level:
        h -= 1
    return h
