"""The binary tree: noisy sums over all blocks of 2^h periods that start at a multiple of 2^h."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import (
    FRACTION_BITS,
    SHARE_BITS,
    Chained,
    Draw,
    StrategyState,
    StreamStrategy,
    part_of,
    rounded,
)
from mechanisms.continual.stream import LONGEST, LinearStream
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity

# Block sizes up to 2^20.
_HEIGHTS = LONGEST.bit_length()


def _powers(periods: Integers, by_height: Floats) -> Floats:
    """Σ by_height[h] over the blocks of a running count: those of the binary digits of the period."""
    heights = np.arange(_HEIGHTS + 1)
    return (periods[:, np.newaxis] >> heights & 1) @ by_height[: _HEIGHTS + 1]


def _mean_power(horizon: int, by_height: np.ndarray) -> float:
    """The mean of `_powers` over the periods 1..horizon, from how often each binary digit is 1."""
    total = 0.0
    for h in range(horizon.bit_length()):
        complete, rest = divmod(horizon + 1, 2 << h)
        total += by_height[h] * ((complete << h) + max(0, rest - (1 << h)))
    return float(total / horizon)


class TreeBlocks(Chained):
    """A running count is the sum over the blocks of its binary digits, each with noise of its own.

    An increment is in one block of each size up to N. Row i of Fenwick's tree is the block that ends with period i,
    so this is also his tree with equal weights. Source: Chan, Shi, Song 2011; Dwork, Naor, Pitassi, Rothblum 2010.
    """

    rounds = False
    plain = True

    def __init__(self, horizon: int) -> None:
        self._levels = horizon.bit_length()
        self.column = Sensitivity(self._levels, self._levels)

    def powers(self, periods: np.ndarray, power: int) -> np.ndarray:
        return _powers(periods, np.ones(_HEIGHTS + 1))

    def ending(self, periods: np.ndarray) -> np.ndarray:
        return np.ones(periods.shape)

    def mean_energy(self, horizon: int) -> float:
        return _mean_power(horizon, np.ones(_HEIGHTS + 1))

    def begin(self, draw: Draw) -> StrategyState:
        return {"blocks": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """`blocks`: the noise of each block of the running count, the longest first."""
        blocks = numbers["blocks"][: period.bit_count() - 1] + draw(1).tolist()
        return np.sum(np.array(blocks, dtype=np.int64), axis=0), {"blocks": blocks}


# The variance of a block's estimate from its own answer and those inside it, 1/v(h) = 1 + 1/(2 v(h-1)), and what
# share of it comes from inside.
_REFINED = [1.0]
for _ in range(_HEIGHTS):
    _REFINED.append(1 / (1 + 1 / (2 * _REFINED[-1])))
_INSIDE = [0, *(round(2**SHARE_BITS * v / (2 * u)) for u, v in pairwise(_REFINED))]


def _refined_changes() -> list[float]:
    """By the height of the block that ends with a period: the energy of that period's increment."""
    changes = []
    for height in range(_HEIGHTS + 1):
        energy, inside = 0.0, 1.0
        for h in range(height, 0, -1):
            share = _INSIDE[h] / 2**SHARE_BITS
            energy += (inside * (1 - share)) ** 2 + (inside * share - 1) ** 2 * _REFINED[h - 1]
            inside *= share
        changes.append(energy + inside**2)
    return changes


_REFINED_CHANGES = _refined_changes()


class RefinedBlocks(StreamStrategy):
    """`Blocks` whose estimates also use the blocks inside them, all of which are over when they are used.

    Estimate of a block = (1-θ) its own answer + θ (the estimates of its halves): both add up the same increments, so
    any θ will do, and θ is a multiple of 2^-30 near the best. Source: Honaker 2015, the estimate from below.
    """

    def __init__(self, horizon: int) -> None:
        levels = horizon.bit_length()
        self.column = Sensitivity(levels, levels)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return _powers(periods, np.array(_REFINED))

    def mean_energy(self, horizon: int) -> float:
        return _mean_power(horizon, np.array(_REFINED))

    def fourth_powers(self, periods: np.ndarray) -> np.ndarray:
        fourths = [1.0]
        for inside in _INSIDE[1:]:
            share = inside / 2**SHARE_BITS
            fourths.append((1 - share) ** 4 + 2 * share**4 * fourths[-1])
        return _powers(periods, np.array(fourths))

    def increment_energies(self, periods: Integers) -> Floats:
        """The block that ends with the period, less those in its place before, the left ones of the halves inside it.

        With u the estimate's coefficient for them: (u - 1)² of each left half's variance, (1 - θ)² of each own answer.
        """
        changes: Floats = np.array(_REFINED_CHANGES)[np.log2(periods & -periods).astype(np.int64)]
        return changes

    def begin(self, draw: Draw) -> StrategyState:
        return {"blocks": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """`blocks`: the noise of the estimate of each block of the running count, in fixed point, the longest first."""
        height = (period & -period).bit_length() - 1
        own = draw(height + 1) << FRACTION_BITS
        blocks, block = list(numbers["blocks"]), own[0]
        for h in range(1, height + 1):
            halves = np.array(blocks.pop(), dtype=np.int64) + block
            block = own[h] + part_of(halves - own[h], _INSIDE[h])
        blocks.append(block.tolist())
        return rounded(np.sum(np.array(blocks, dtype=np.int64), axis=0)), {"blocks": blocks}


class BinaryTree(LinearStream):
    """The binary tree of Chan et al., the usual way to publish a running count."""

    name: ClassVar[str] = "binary-tree"
    title: ClassVar[str] = "Binary tree (equal to a plain Fenwick tree)"
    summary: ClassVar[str] = "Sums over blocks of 1, 2, 4, ... periods, all measured alike; the usual method."

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return TreeBlocks(horizon or 0)


class RefinedTree(LinearStream):
    """The binary tree with Honaker's refinement, as far as it needs no future block."""

    name: ClassVar[str] = "refined-tree"
    title: ClassVar[str] = "Binary tree, refined from below (Honaker)"
    summary: ClassVar[str] = (
        "The binary tree, with every block also estimated from the shorter blocks inside it."
    )

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return RefinedBlocks(horizon or 0)
