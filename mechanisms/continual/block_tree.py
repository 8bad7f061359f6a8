"""Running counts of a long stream: one strategy for the totals of whole blocks, one within each block.

A running count is that of the blocks that are over, s, plus what its block adds up to so far, i. A block's whole sum is
known twice: from outside, as the step D from one count of blocks to the next, and from inside, as I. So s + i
is improved by a share κ of the contradiction D - I, the share that makes the variance least. An increment is in the
answers of both strategies, so their weights add up. Each block's inner noise is drawn when the block begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, isqrt

import numpy as np
from scipy.optimize import minimize_scalar

from mechanisms.arrays import Floats, Integers
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.strategy import Draw, StrategyState, StreamStrategy, rounded
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class BlockLevels:
    """Variances and covariances of the noise of both strategies, for noise z of variance 1.

    before, (m,): of s when each block begins. drift, (m,): covariances of s and D. steps, (m,): of D.
    within, (n,): of i after each period of a block. total, (n,): covariances of i and I; the last is the variance of I.
    turns, (m,): covariances of D and that of the block before, 0 for the first.
    changes, (n,): of what a period adds to i.
    """

    before: Floats
    drift: Floats
    steps: Floats
    within: Floats
    total: Floats
    turns: Floats
    changes: Floats

    @classmethod
    def of(cls, outer: NestedWindows, inner: NestedWindows) -> BlockLevels:
        begins, periods = np.arange(outer.periods), np.arange(1, inner.periods + 1)
        known = outer.energies(np.arange(outer.periods + 1))
        drift = outer.covariances(begins, begins + 1) - known[:-1]
        steps = np.diff(known) - 2 * drift
        total = inner.covariances(periods, np.full(inner.periods, inner.periods))
        turns = drift - outer.covariances(np.maximum(begins - 1, 0), begins + 1)
        turns += outer.covariances(np.maximum(begins - 1, 0), begins)
        changes = inner.increment_energies(periods)
        return cls(known[:-1], drift, steps, inner.energies(periods), total, turns, changes)

    def scaled(self, outer: float, inner: float) -> BlockLevels:
        """The levels with their weights multiplied."""
        a, b = outer**-2.0, inner**-2.0
        return BlockLevels(
            before=a * self.before,
            drift=a * self.drift,
            steps=a * self.steps,
            within=b * self.within,
            total=b * self.total,
            turns=a * self.turns,
            changes=b * self.changes,
        )

    @property
    def contradictions(self) -> Floats:
        """(m,): the variances of D - I."""
        contradictions: Floats = self.steps + self.total[-1]
        return contradictions

    def shares(self, blocks: Integers, places: Integers) -> Floats:
        """κ at places (0-based) within blocks (0-based)."""
        return (self.total[places] - self.drift[blocks]) / self.contradictions[blocks]

    def energies(self, blocks: Integers, places: Integers) -> Floats:
        improvement = self.shares(blocks, places) ** 2 * self.contradictions[blocks]
        return self.before[blocks] + self.within[places] - improvement

    def increment_energies(self, blocks: Integers, places: Integers) -> Floats:
        """Of i_w - i_(w-1) + (κ_w - κ_(w-1)) (D - I) inside a block; of a block's first period, see `_begun`."""
        before = np.maximum(places - 1, 0)
        shift = self.shares(blocks, places) - self.shares(blocks, before)
        inside = self.changes[places] - 2 * shift * (self.total[places] - self.total[before])
        inside += shift**2 * self.contradictions[blocks]
        begun = np.where(blocks > 0, self._begun(blocks), self.energies(blocks, places))
        return np.where(places > 0, inside, begun)

    def _begun(self, blocks: Integers) -> Floats:
        """Of a block's first period: (1 - κ_n) (D' - I') of the block before, plus i_1 + κ_1 (D - I).

        For that block ended with s' + I' + κ_n (D' - I'), and s' + D' is what this one begins with.
        """
        first, earlier = np.zeros_like(blocks), np.maximum(blocks - 1, 0)
        left = 1 - self.shares(earlier, np.full_like(blocks, self.within.size - 1))
        share = self.shares(blocks, first)
        own = self.within[0] - 2 * share * self.total[0] + share**2 * self.contradictions[blocks]
        energies: Floats = (
            own + left**2 * self.contradictions[earlier] + 2 * left * share * self.turns[blocks]
        )
        return energies

    def mean_energy(self, horizon: int) -> float:
        """Of the periods 1..horizon: `energies` summed over the places of a block first."""
        length = self.within.size
        blocks, rest = -(-horizon // length), (horizon - 1) % length
        places = np.full(blocks, length - 1)
        places[-1] = rest
        before, drift, spread = self.before[:blocks], self.drift[:blocks], self.contradictions[:blocks]
        shared = np.cumsum(self.total**2)[places] - 2 * drift * np.cumsum(self.total)[places]
        shared += (places + 1) * drift**2
        sums = (places + 1) * before + np.cumsum(self.within)[places] - shared / spread
        return float(sums.sum()) / horizon


@dataclass(frozen=True)
class Nested(StreamStrategy):
    """A = [outer (block totals); inner (periods of a block), once for each block]."""

    outer: NestedWindows
    inner: NestedWindows

    @property
    def column(self) -> Sensitivity:  # type: ignore[override]
        outer, inner = self.outer.column, self.inner.column
        return Sensitivity(outer.l1 + inner.l1, outer.l2_squared + inner.l2_squared)

    @cached_property
    def levels(self) -> BlockLevels:
        return BlockLevels.of(self.outer, self.inner)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self.levels.energies(*np.divmod(periods - 1, self.inner.periods))

    def increment_energies(self, periods: np.ndarray) -> np.ndarray:
        return self.levels.increment_energies(*np.divmod(periods - 1, self.inner.periods))

    def mean_energy(self, horizon: int) -> float:
        return self.levels.mean_energy(horizon)

    def fourth_powers(self, periods: Integers) -> Floats:
        """Of (1 - κ) times a count of blocks plus κ times the next, and of i - κ I."""
        blocks, places = np.divmod(periods - 1, self.inner.periods)
        share, (outer, inner) = self.levels.shares(blocks, places), self._fourth_moments
        powers: Floats = np.sum(
            [
                comb(4, j)
                * share**j
                * ((1 - share) ** (4 - j) * outer[j, blocks] + (-1) ** j * inner[j, places])
                for j in range(5)
            ],
            axis=0,
        )
        return powers

    @cached_property
    def _fourth_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """(5, m) of each count of blocks and the next, and (5, n) of each count within a block and the last."""
        begins, periods = np.arange(self.outer.periods), np.arange(1, self.inner.periods + 1)
        last = np.full(periods.size, periods.size)
        return self.outer.fourth_moments(begins, begins + 1), self.inner.fourth_moments(periods, last)

    def begin(self, draw: Draw) -> StrategyState:
        outer = self.outer.noise(draw)
        return {"before": [0] * outer.shape[1], "blocks": outer.tolist(), "ahead": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """`before`: noise of the blocks that are over; `blocks`: after each block yet to end; `ahead`: of the counts
        that this block has yet to publish, in rows."""
        before, blocks, ahead = numbers["before"], numbers["blocks"], numbers["ahead"]
        block, place = divmod(period - 1, self.inner.periods)
        if place == 0:
            ahead = rounded(self._block(block, np.array(before), np.array(blocks[0]), draw)).tolist()
        if place == self.inner.periods - 1:
            before, blocks = blocks[0], blocks[1:]
        noise = np.array(ahead[0], dtype=np.int64)
        return noise, {"before": before, "blocks": blocks, "ahead": ahead[1:]}

    def _block(self, block: int, before: np.ndarray, after: np.ndarray, draw: Draw) -> np.ndarray:
        """(n, k), the noise of a block's counts in fixed point, from that of the counts of blocks around it.

        Whole increments cancel in the contradiction, so any function of it leaves G(z + Ax) = G(z) + Wx intact.
        """
        within = self.inner.noise(draw)
        contradiction = after - before - within[-1]
        share = self.levels.shares(np.array(block), np.arange(self.inner.periods))
        noise: Integers = before + within + np.rint(share[:, np.newaxis] * contradiction).astype(np.int64)
        return noise


def block_length(horizon: int) -> int:
    """About as many blocks as periods in a block: the two errors are then alike, which is best."""
    return isqrt(horizon) + 1


def best_outer_share(levels: BlockLevels, horizon: int) -> float:
    """The share of the weight that the totals of blocks should have, from the levels with the whole weight each."""
    result = minimize_scalar(
        lambda share: levels.scaled(share, 1 - share).mean_energy(horizon),
        bounds=(0.05, 0.95),
        method="bounded",
    )
    return float(result.x)
