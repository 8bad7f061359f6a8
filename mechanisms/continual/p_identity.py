"""Running counts from noisy periods and noisy windows over them, combined as well as can be.

The noise of period i, z_i / d_i with d_i its weight, is e_i in fixed point; windows measure the integer sums T_j x
with noise of their own. Best linear estimates add to the running sum of the e_i a correction made of
r_j = z_j - (T e)_j, and r_j does not change if the answers are shifted by Ax: e_i grows by x_i whole rows, z_j by
(T x)_j, exactly, in integers. So *any* function of the r_j, floats included, leaves G(z + Ax) = G(z) + Wx intact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import (
    FRACTION_BITS,
    Draw,
    StrategyState,
    StreamStrategy,
    fixed_point,
    rounded,
)
from mechanisms.continual.windows import Layer
from mechanisms.sensitivity import Sensitivity

# A window's weights are multiples of 2^-WINDOW_BITS of the grid, so that T e stays far inside 64 bits.
WINDOW_BITS = 12
# Coefficients of so many running sums are worked out together.
_PIECE = 256


@dataclass(frozen=True)
class NestedWindows(StreamStrategy):
    """A = [diag(d); g τ] with whole d, g and τ, every column of which adds up to exactly `grid`.

    layers: the shape of the windows, see `windows`. grid: >= 2^WINDOW_BITS.
    """

    periods: int
    layers: tuple[Layer, ...]
    grid: int

    @property
    def column(self) -> Sensitivity:  # type: ignore[override]
        squares = self.own**2 + self.unit**2 * (self.multiples**2).sum(axis=0)
        return Sensitivity(self.grid, int(squares.max()))

    @property
    def unit(self) -> int:
        """g: the windows' weights are multiples of it."""
        return self.grid >> WINDOW_BITS

    @cached_property
    def multiples(self) -> Integers:
        """τ, (p, n) int64: Θ/(1 + column sums of Θ), on the grid and rounded down."""
        shapes = [layer.weights(self.periods) for layer in self.layers]
        theta = np.concatenate([np.zeros((0, self.periods), dtype=np.int64), *shapes])
        multiples: Integers = (theta << WINDOW_BITS) // (2**20 + theta.sum(axis=0))
        return multiples

    @cached_property
    def own(self) -> Integers:
        """d, (n,) int64: what of the grid the windows leave for the period itself."""
        left: Integers = self.grid - self.unit * self.multiples.sum(axis=0)
        return left

    @cached_property
    def _estimates(self) -> tuple[np.ndarray, Floats, Floats]:
        """K and U, (n + 1, p), and Σ 1/d², (n + 1,), after 0..n periods.

        The best estimate of the running sums is We + Kr. With S = diag(1/d), T = g τ and U = W S² Tᵀ, K is
        U (I + T S² Tᵀ)^-1, and the covariance of the errors W S² Wᵀ - K Uᵀ.
        """
        squares: Floats = 1 / self.own.astype(np.float64) ** 2
        windows: Floats = self.unit * self.multiples.astype(np.float64)
        reach: Floats = np.vstack([np.zeros(len(windows)), np.cumsum((windows * squares).T, axis=0)])
        gain = np.linalg.solve(np.eye(len(windows)) + (windows * squares) @ windows.T, reach.T).T
        return gain, reach, np.append(0.0, np.cumsum(squares))

    def covariances(self, first: Integers, second: Integers) -> Floats:
        """The covariance of the noise of two counts, for pairs of periods (0: of none), for noise z of variance 1."""
        gain, reach, sums = self._estimates
        covariances: Floats = sums[np.minimum(first, second)] - (gain[first] * reach[second]).sum(axis=1)
        return covariances

    def energies(self, periods: Integers) -> Floats:
        return self.covariances(periods, periods)

    def increment_energies(self, periods: Integers) -> Floats:
        before = periods - 1
        changes: Floats = self.energies(periods) + self.energies(before)
        return changes - 2 * self.covariances(before, periods)

    def increment_fourth_powers(self, periods: Integers) -> Floats:
        parts = np.array_split(periods, -(-max(1, periods.size) // _PIECE))
        squares = ((self._coefficients(part) - self._coefficients(part - 1)) ** 2 for part in parts)
        return np.concatenate([(square**2).sum(axis=1) for square in squares])

    def fourth_powers(self, periods: Integers) -> Floats:
        parts = np.array_split(periods, -(-max(1, periods.size) // _PIECE))
        squares = (self._coefficients(part) ** 2 for part in parts)
        return np.concatenate([(square**2).sum(axis=1) for square in squares])

    def fourth_moments(self, first: Integers, second: Integers) -> Floats:
        """(5, m): Σ a^(4-j) c^j, j = 0..4, of the coefficients a and c of z in two counts, for pairs of periods."""
        pieces = -(-max(1, first.size) // _PIECE)
        pairs = zip(np.array_split(first, pieces), np.array_split(second, pieces), strict=True)
        return np.concatenate([self._moments(*pair) for pair in pairs], axis=1)

    def _moments(self, first: Integers, second: Integers) -> Floats:
        a, c = self._coefficients(first), self._coefficients(second)
        aa, ac, cc = a * a, a * c, c * c
        pairs = ((aa, aa), (aa, ac), (aa, cc), (ac, cc), (cc, cc))
        return np.array([np.einsum("ti,ti->t", left, right) for left, right in pairs])

    def _coefficients(self, periods: Integers) -> Floats:
        """(m, n + p): of z in the counts, (1[i <= t] - (K T)_ti)/d_i and K_tj."""
        gain = self._estimates[0][periods]
        summed = np.arange(1, self.periods + 1) <= periods[:, None]
        own = (summed - gain @ (self.unit * self.multiples.astype(np.float64))) / self.own
        return np.concatenate([own, gain], axis=1)

    def noise(self, draw: Draw) -> Integers:
        """The noise of all running sums, (n, k) int64 in multiples of 2^-FRACTION_BITS rows, drawn anew."""
        draws = draw(self.periods + len(self.multiples))
        own = fixed_point(draws[: self.periods], self.own[:, None])
        return np.cumsum(own, axis=0) + self._correction(own, draws[self.periods :])

    def _correction(self, own: Integers, windows: Integers) -> Integers:
        """K r in fixed point. Whole rows and fractions apart keep τ e inside 64 bits, and r unmoved by any x."""
        measured = fixed_point(windows, self.unit)
        fraction = (1 << FRACTION_BITS) - 1
        rows = (measured >> FRACTION_BITS) - self.multiples @ (own >> FRACTION_BITS)
        parts = (measured & fraction) - self.multiples @ (own & fraction)
        residual = rows * 2.0**FRACTION_BITS + parts
        correction: Integers = np.rint((self.unit * self._estimates[0][1:]) @ residual).astype(np.int64)
        return correction

    def begin(self, draw: Draw) -> StrategyState:
        return {"ahead": rounded(self.noise(draw)).tolist()}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        ahead = numbers["ahead"]
        return np.array(ahead[0], dtype=np.int64), {"ahead": ahead[1:]}
