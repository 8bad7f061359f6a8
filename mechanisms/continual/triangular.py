"""Strategies with one answer a period: a lower triangle A of whole weights, none negative.

The noise of period t, as an increment, is e_t = (z_t - Σ_{k<t} A_tk e_k) / A_tt, solved forwards in fixed point and
rounded down. If z is shifted by Ax then every e_t grows by exactly x_t whole rows: by induction the bracket grows by
A_tt x_t, and rounding down commutes with whole rows. So the running sums of the e_t satisfy G(z + Ax) = G(z) + Wx.
All of it is computed when the stream is opened; the state holds the counts' noise yet to come.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import FRACTION_BITS, Draw, StrategyState, StreamStrategy, rounded


class Triangular(StreamStrategy):
    """A strategy of `periods` answers, of which a subclass gives the rows."""

    periods: int

    @abstractmethod
    def row(self, period: int) -> np.ndarray:
        """The (period,) int64 weights A_t1..A_tt of the increments so far, each below 2^25; the last is positive."""

    @property
    @abstractmethod
    def _energies(self) -> Floats:
        """(periods,) of every count: what `energies` picks from."""

    @property
    @abstractmethod
    def _increment_energies(self) -> Floats:
        """(periods,) of every increment: the rows of A^-1, squared."""

    def energies(self, periods: Integers) -> Floats:
        return self._energies[periods - 1]

    def increment_energies(self, periods: Integers) -> Floats:
        return self._increment_energies[periods - 1]

    def mean_energy(self, horizon: int) -> float:
        return float(self._energies[:horizon].mean())

    def begin(self, draw: Draw) -> StrategyState:
        return {"ahead": rounded(np.cumsum(self._increments(draw(self.periods)), axis=0)).tolist()}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        ahead = numbers["ahead"]
        return np.array(ahead[0], dtype=np.int64), {"ahead": ahead[1:]}

    def _increments(self, noise: Integers) -> Integers:
        """e for z, (n, k) int64, in multiples of 2^-FRACTION_BITS; whole rows and fractions apart fit 64 bits."""
        integral, fraction = np.zeros_like(noise), np.zeros_like(noise)
        mask = (1 << FRACTION_BITS) - 1
        for t in range(len(noise)):
            weights = self.row(t + 1)
            earlier, own = weights[:-1], weights[-1]
            quotient, rest = np.divmod(noise[t] - earlier @ integral[:t], own)
            part = ((rest << FRACTION_BITS) - earlier @ fraction[:t]) // own
            integral[t], fraction[t] = quotient + (part >> FRACTION_BITS), part & mask
        return (integral << FRACTION_BITS) + fraction
