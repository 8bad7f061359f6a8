"""Running counts of a long stream: one strategy for the totals of whole blocks, one within each block.

A running count is that of the blocks that are complete plus that of the present block so far. An increment is in the
answers of both strategies, so their weights add up; sharing the weight in proportion to the cube roots of their errors
E₁ and E₂ makes the error (E₁^⅓ + E₂^⅓)³. Each block's inner noise is drawn when the block begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.continual.p_identity import Windows
from mechanisms.continual.strategy import Draw, Numbers, Strategy, rounded
from mechanisms.counting import Sensitivity

# Periods (1-based) to what is stated of the error after each.
_Errors = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Nested(Strategy):
    """A = [outer (block totals); inner (periods of a block but its last), once for each block].

    The last period of a block needs no inner strategy: there the outer running count is the whole answer.
    """

    outer: Windows
    inner: Windows

    @property
    def block(self) -> int:
        """Periods in a block."""
        return self.inner.periods + 1

    @property
    def column(self) -> Sensitivity:  # type: ignore[override]
        outer, inner = self.outer.column, self.inner.column
        return Sensitivity(outer.l1 + inner.l1, outer.l2_squared + inner.l2_squared)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self._added(periods, self.outer.energies, self.inner.energies)

    def mean_energy(self, horizon: int) -> float:
        blocks, rest = divmod(horizon + 1, self.block)
        outer = np.append(0.0, self.outer.energies(np.arange(1, self.outer.periods + 1)))
        inner = np.append(0.0, self.inner.energies(np.arange(1, self.block)))
        total = self.block * outer[:blocks].sum() + blocks * inner.sum() + inner[:rest].sum()
        return float(total + (rest * outer[blocks] if rest else 0.0)) / horizon

    def fourth_powers(self, periods: np.ndarray) -> np.ndarray:
        return self._added(periods, self.outer.fourth_powers, self.inner.fourth_powers)

    def _added(self, periods: np.ndarray, outer: _Errors, inner: _Errors) -> np.ndarray:
        """The outer strategy's errors after the blocks that are complete, plus the inner's within the present one."""
        blocks, within = np.divmod(periods, self.block)
        return _from_zero(outer, blocks) + _from_zero(inner, within)

    def begin(self, draw: Draw) -> Numbers:
        outer = self.outer.noise(draw)
        return {"before": [0] * outer.shape[1], "blocks": outer.tolist(), "ahead": []}

    def step(self, period: int, numbers: Numbers, draw: Draw) -> tuple[np.ndarray, Numbers]:
        """`before`: noise of the blocks that are complete; `blocks`: after each block yet to end; `ahead`: within."""
        before, blocks, ahead = numbers["before"], numbers["blocks"], numbers["ahead"]
        within = period % self.block
        if within == 0:
            noise = np.array(blocks[0], dtype=np.int64)
            return rounded(noise), {"before": blocks[0], "blocks": blocks[1:], "ahead": []}
        if within == 1:
            ahead = self.inner.noise(draw).tolist()
        noise = np.array(before, dtype=np.int64) + np.array(ahead[0], dtype=np.int64)
        return rounded(noise), {"before": before, "blocks": blocks, "ahead": ahead[1:]}


def block_length(horizon: int) -> int:
    """About as many blocks as periods in a block: the two errors are then alike, which is best."""
    return math.isqrt(horizon) + 1


def outer_share(outer_error: float, inner_error: float) -> float:
    """The share of the weight that makes the least of E₁/s² + E₂/(1-s)²."""
    first, second = outer_error ** (1 / 3), inner_error ** (1 / 3)
    return first / (first + second)


def _from_zero(errors: _Errors, counts: np.ndarray) -> np.ndarray:
    """The errors after each of (m,) numbers of periods, each worked out once; 0 after none."""
    known, places = np.unique(counts, return_inverse=True)
    values = np.zeros(known.size)
    values[known > 0] = errors(known[known > 0])
    return values[places]
