"""The law of a weighted sum of independent noise: what an estimate from many noisy answers may be off by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.noise import DiscreteLaplace, NoiseLaw
from mechanisms.noise.sum_quantiles import LEVEL, PlainSum, half_widths

# The inversion integral is cut off where the characteristic function stays below this, and divided this finely.
_NEGLIGIBLE = 1e-9
_STEP = 0.02
_FARTHEST = 20_000.0
# Allowed for the integral's error; an interval's coverage is stated less this.
_SLACK = 1e-6
# Beyond so many standard errors Chebyshev's inequality says enough, and the integral's points lie too far apart.
_FAR = 20.0
# Noise of a smaller standard error is not as good as continuous.
_NARROW = 4.0


@dataclass(frozen=True)
class Combination:
    """Σ a_i K_i over independent K_i of one law.

    terms: pairs (a, how many K_i have the coefficient ±a).
    """

    law: NoiseLaw
    terms: tuple[tuple[float, int], ...]

    @classmethod
    def of(cls, law: NoiseLaw, coefficients: Iterable[tuple[float, int]]) -> Combination:
        """Only the coefficients that are not zero."""
        given = [(abs(a), m) for a, m in coefficients]
        largest = max(a for a, _ in given)
        return cls(law, tuple((a, m) for a, m in given if a > 1e-12 * largest))

    @cached_property
    def standard_error(self) -> float:
        return math.sqrt(self.law.variance * sum(a * a * m for a, m in self.terms))

    def coverage(self, h: int) -> float:
        """P(|Σ a_i K_i| <= h): exact for equal coefficients; for noise of less than a few rows a bound, by Chebyshev's
        inequality and `half_widths`; else stated low by the integral's error (1e-6).

        Source: Gil-Pelaez 1951, (2/π) ∫ sin(hθ)/θ φ(θ) dθ for a symmetric law.
        """
        if h < 0:
            return 0.0
        if len(self.terms) == 1:
            return self._plain.coverage(math.floor(h / self.terms[0][0] + 1e-9))
        least = max(0.0, 1 - (self.standard_error / max(h, 1e-9)) ** 2)
        if self.law.standard_error < _NARROW:
            bound = half_widths(self.law, np.array(self.standard_error), self.largest)
            return max(least, LEVEL if h >= bound else 0.0)
        if h > _FAR * self.standard_error:
            return least
        points, weighted = self._inversion
        # On the integers a sum can lie half a step of its largest coefficient farther out.
        inside = max(0.0, h - self.largest / 2)
        return max(0.0, float(np.sin(inside / self.standard_error * points) @ weighted) - _SLACK)

    def half_width(self, level: float = 0.95) -> int:
        """The least h with coverage(h) >= level."""
        if len(self.terms) == 1 and self.terms[0][0] == 1:
            return self._plain.half_width(level)
        low, high = -1, max(1, math.ceil(self.standard_error * math.sqrt(1 / (1 - level)) + _SLACK))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.coverage(middle) >= level else (middle, high)
        return high

    @property
    def largest(self) -> float:
        """The largest coefficient."""
        return max(a for a, _ in self.terms)

    @cached_property
    def _plain(self) -> PlainSum:
        """Where all coefficients are alike, what they multiply."""
        return PlainSum(self.law, self.terms[0][1])

    @cached_property
    def _inversion(self) -> tuple[np.ndarray, np.ndarray]:
        """Midpoints u of the integral in standard errors, and (2/π) φ(u/σ)/u du at each."""
        reach = 64.0
        while reach < _FARTHEST and self._characteristic(np.array([reach]))[0] > _NEGLIGIBLE * reach:
            reach *= 2
        points = np.arange(_STEP / 2, reach, _STEP)
        return points, 2 / math.pi * self._characteristic(points) / points * _STEP

    def _characteristic(self, u: Floats) -> Floats:
        """φ at u standard errors, a product over the terms; noise this wide is as good as continuous."""
        product = np.zeros_like(u)
        for a, m in self.terms:
            angle = u * (a / self.standard_error)
            if isinstance(self.law, DiscreteLaplace):
                rate = float(1 / self.law.scale)
                # φ of the discrete law: 1 / (1 + (sin(θ/2)/sinh(1/2t))²).
                product -= m * np.log1p((np.sin(angle / 2) / math.sinh(rate / 2)) ** 2)
            else:
                product -= m * self.law.variance * angle**2 / 2
        return np.exp(product)
