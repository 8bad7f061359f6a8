"""How far sums of independent noises of one law reach: exactly where each counts once, else by a bound.

What is stated is a half-width h, so that the sum lies within ±h with probability at least 0.95, for noise of any width:
that of many rows is as good as continuous, that of less than a row is nearly always 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtri

from mechanisms.arrays import Floats, Integers
from mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw

LEVEL = 0.95
# By how much of its largest coefficient a weighted sum on the integers reaches farther than one of continuous noise.
STEP = 9 / 16
# By Chebyshev's inequality no sum reaches farther, in standard errors.
FARTHEST = math.sqrt(1 / (1 - LEVEL))
# Numbers of terms beyond this are rounded up to three digits: by 0.5 % of the half-width at most.
_DISTINCT = 1000
# The circle on which a sum is looked at has at least so many points, and so many for each standard error.
_POINTS, _POINTS_PER_ERROR = 2**10, 64
# Characteristic functions below this are left out.
_NEGLIGIBLE = 1e-12


def reach(law: NoiseLaw, level: float = LEVEL) -> float:
    """Half the width of an interval in standard errors, the largest over all weighted sums of continuous noise.

    level: at least 0.95. Of Laplace noises of given variance a single one then reaches farthest.
    """
    if isinstance(law, DiscreteLaplace):
        return math.log(1 / (1 - level)) / math.sqrt(2)
    return float(ndtri((1 + level) / 2))


def widening(statements: float, law: NoiseLaw | None = None) -> float:
    """What half-widths of so many intervals at 95 % are multiplied by, so that all hold together with 95 %.

    law: of the noise, where it is known. Each may then be wrong with a chance of 5 % over their number (Bonferroni). A
    sum of independent noises whose laws are log-concave has a log-concave law (Prékopa 1973), and so P(|sum| > t) is
    log-concave in t, too: at c times the reach at 95 % it is at most 0.05^c. For Gaussian noise c is exact.
    """
    level = 1 - (1 - LEVEL) / statements
    if isinstance(law, DiscreteGaussian):
        return reach(law, level) / reach(law)
    return math.log(1 / (1 - level)) / math.log(1 / (1 - LEVEL))


def half_widths(law: NoiseLaw, errors: Floats, largest: float | Floats = math.inf) -> Floats:
    """For each weighted sum of noises an h so that it lies within ±h with probability at least 0.95, in its own unit.

    errors: standard errors of the sums. largest: the largest coefficient, where that is known. A weighted sum of
    Laplace noises of given variance reaches farthest, at this level, where it is a single one; of Gaussian noises all
    reach equally far. On the integers a sum can reach farther by `STEP` of the largest coefficient, which is at
    most the sum's standard error over the noise's: as much as sums of equal coefficients do, over all laws. Nothing
    reaches beyond Chebyshev's inequality, which matters for noise that is nearly always 0.
    """
    if law.standard_error == 0:
        return np.zeros_like(errors)
    steps = np.minimum(largest, errors / law.standard_error)
    return np.minimum(reach(law) * errors + STEP * steps, FARTHEST * errors)


def integer_half_widths(law: NoiseLaw, terms: Integers) -> Integers:
    """For each number of noises >= 0 the least whole h so that their plain sum lies within ±h in at least 95 %."""
    numbers, places = np.unique(_rounded_up(terms), return_inverse=True)
    widths = np.array([_least_width(law, int(m)) for m in numbers], dtype=np.int64)
    return widths[places].reshape(terms.shape)


def _rounded_up(terms: Integers) -> Integers:
    """To three digits. More noises never reach less far: sums of symmetric unimodal laws only spread (Wintner 1938)."""
    digits = np.floor(np.log10(np.maximum(terms, 1))).astype(np.int64)
    unit = 10 ** np.maximum(0, digits - 2)
    return np.where(terms < _DISTINCT, terms, -(-terms // unit) * unit)


@lru_cache(maxsize=4096)
def _least_width(law: NoiseLaw, terms: int) -> int:
    return PlainSum(law, terms).half_width() if terms else 0


@dataclass(frozen=True)
class PlainSum:
    """K_1 + ... + K_m of independent noises of one law, m >= 1."""

    law: NoiseLaw
    terms: int

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.terms) * self.law.standard_error

    def coverage(self, h: int) -> float:
        """P(|sum| <= h), exact up to float arithmetic.

        The sum's probabilities are the Fourier coefficients of its characteristic function φ^m, 2π-periodic; those on
        a circle of so many integers that the sum does not reach around it are a finite sum over the circle's angles.
        """
        if h < 0:
            return 0.0
        if self.terms == 1:
            return self.law.coverage(h)
        angles, weights, points = self._circle
        if 2 * h + 1 >= points:
            return 1.0
        inside = float((np.sin((h + 0.5) * angles) / np.sin(angles / 2)) @ weights)
        return (2 * h + 1 + inside) / points

    def half_width(self, level: float = LEVEL) -> int:
        """The least h with coverage(h) >= level."""
        if self.terms == 1:
            return self.law.half_width(level)
        low, high = -1, math.ceil(self.standard_error / math.sqrt(1 - level))
        # Sums of many noises are nearly normal.
        near = float(ndtri((1 + level) / 2)) * self.standard_error
        for guess in (math.floor(0.97 * near) - 1, math.ceil(1.03 * near) + 1):
            if low < guess < high:
                low, high = (low, guess) if self.coverage(guess) >= level else (guess, high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.coverage(middle) >= level else (middle, high)
        return high

    @cached_property
    def _circle(self) -> tuple[Floats, Floats, int]:
        """The angles where φ^m is not negligible, twice φ^m there (once at π), and the number of points."""
        points = 1 << math.ceil(math.log2(max(_POINTS, _POINTS_PER_ERROR * self.standard_error)))
        upto = 2**7
        while True:
            angles = 2 * np.pi / points * np.arange(1, min(upto, points // 2) + 1, dtype=np.float64)
            powers: Floats = characteristic(self.law, angles) ** self.terms
            if upto >= points // 2 or powers[-1] < _NEGLIGIBLE:
                break
            upto *= 4
        weights = 2 * powers
        if angles.size == points // 2:
            weights[-1] /= 2
        significant = powers >= _NEGLIGIBLE
        return angles[significant], weights[significant], points


def characteristic(law: NoiseLaw, angles: Floats) -> Floats:
    """φ(θ) = E cos(θK), exact up to float arithmetic."""
    if isinstance(law, DiscreteLaplace):
        rate = float(1 / law.scale)
        # Beyond this sinh would leave the floats, and the noise is 0.
        if rate > 1000:
            return np.ones_like(angles)
        laplace: Floats = 1 / (1 + (np.sin(angles / 2) / math.sinh(rate / 2)) ** 2)
        return laplace
    variance = float(law.variance_parameter)
    if variance < 1:
        k = np.arange(1, 41)
        gaussian: Floats = law.probability(0) + 2 * np.cos(np.multiply.outer(angles, k)) @ _masses(law, k)
        return gaussian
    # Poisson summation: a Gaussian around every multiple of 2π, of which the nearest matter.
    around = np.add.outer(angles % (2 * np.pi), 2 * np.pi * np.arange(-3, 2))
    total = np.exp(-variance / 2 * (2 * np.pi * np.arange(-2, 3)) ** 2).sum()
    wrapped: Floats = np.exp(-variance / 2 * around**2).sum(axis=-1) / total
    return wrapped


def _masses(law: DiscreteGaussian, k: Integers) -> Floats:
    return np.array([law.probability(j) for j in k.tolist()])
