"""Strategies that split the stream again and again: each answer is a sum over a first part, which later counts reuse.

With n periods to go, one answer holds the first p of them, and serves all the n - p + 1 counts from there on. The
p - 1 counts before are served by the same construction with a share of the weight; the n - p counts after have the
whole weight again, since their increments are not in that answer. Row i of the strategy is the one answer that ends
with period i. With p the largest power of two up to n these are the rows of a Fenwick tree (Fenwick 1994).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import SHARE_BITS, Chained, Draw, StrategyState, fixed_point, rounded
from mechanisms.continual.stream import LinearStream
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class Splits:
    """Where n periods are split, and what share of the weight the earlier part gets, for every n that occurs.

    sizes: the n, ascending. middles: p of each. shares: of each, in multiples of 2^-SHARE_BITS.
    energy: Σ of the energies of the largest n's counts, at weight 1 in L1 norm (pure) or squared L2 norm (zCDP).
    depth: the most answers that one increment is in.
    """

    sizes: np.ndarray
    middles: np.ndarray
    shares: np.ndarray
    energy: float
    depth: int

    def at(self, n: int) -> tuple[int, int]:
        """The middle and the share for n periods."""
        if self._few is not None:
            return self._few[n]
        return int(self.middles[n - 1]), int(self.shares[n - 1])

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """For each size: the places, in `sizes`, of the number of periods before its middle, and after it."""
        before, after = self.middles - 1, self.sizes - self.middles
        return np.searchsorted(self.sizes, before), np.searchsorted(self.sizes, after)

    @cached_property
    def _few(self) -> dict[int, tuple[int, int]] | None:
        """Middles and shares by size, where not every size up to the largest occurs."""
        if int(self.sizes[-1]) == self.sizes.size:
            return None
        lists = (numbers.tolist() for numbers in (self.sizes, self.middles, self.shares))
        return {n: (middle, share) for n, middle, share in zip(*lists, strict=True)}


class SplitStrategy(Chained):
    """Row i of the strategy is the sum that ends with period i, times a whole weight.

    The weights of an increment's answers add up to at most `grid`, and for some to exactly that (pure); or their
    squares to at most grid² (zCDP): each split divides what is left between an answer and the part before it.
    """

    def __init__(self, horizon: int, definition: Definition, grid: int, splits: Splits) -> None:
        self._horizon, self._definition, self._splits = horizon, definition, splits
        pure = definition is Definition.PURE
        self._budget = grid if pure else grid**2
        self._grid = grid
        # The other norm follows from at most `depth` weights: it bounds, and no noise is made from it.
        self.column = Sensitivity(grid if pure else grid * splits.depth, grid**2)

    def weight(self, period: int) -> int:
        """The weight of the answer that ends with this period, in O(log N) steps for balanced splits."""
        return self._place(period)[0]

    def weights(self, periods: np.ndarray) -> np.ndarray:
        """(m,) float64 whole numbers: `weight` of each of the periods."""
        weights = np.zeros(periods.size)
        for places, own, position in self._walk(periods):
            here = position == 0
            weights[places[here]] = own[here]
        return weights

    def ending(self, periods: np.ndarray) -> np.ndarray:
        return self.weights(periods)

    def powers(self, periods: np.ndarray, power: int) -> np.ndarray:
        sums = np.zeros(periods.size)
        for places, own, position in self._walk(periods):
            reached = position >= 0
            sums[places[reached]] += own[reached] ** -float(power)
        return sums

    def mean_energy(self, horizon: int) -> float:
        return self._splits.energy / (self._grid**2 * horizon)

    def begin(self, draw: Draw) -> StrategyState:
        return {"parts": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        noise, remembered = self.unrounded(period, numbers, draw)
        return rounded(noise), remembered

    def unrounded(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """`step` in fixed point. `parts[d]` is the noise of all answers so far that end with the d-th part around here.

        The period's own answer belongs to part `depth`; parts inside that one are over.
        """
        weight, depth = self._place(period)
        own = fixed_point(draw(1)[0], weight)
        parts = numbers["parts"][: depth + 1]
        parts = parts + [[0] * own.size] * (depth + 1 - len(parts))
        parts[depth] = (np.array(parts[depth], dtype=np.int64) + own).tolist()
        return np.sum(np.array(parts, dtype=np.int64), axis=0), {"parts": parts}

    def _place(self, period: int) -> tuple[int, int]:
        """The weight of the answer that ends here, and how many first parts it lies in."""
        size, budget, depth = self._horizon, self._budget, 0
        while True:
            middle, share = self._splits.at(size)
            earlier = budget * share >> SHARE_BITS
            if period == middle:
                return self._weight_of(budget - earlier), depth
            if period < middle:
                size, budget, depth = middle - 1, earlier, depth + 1
            else:
                period, size = period - middle, size - middle

    def _weight_of(self, budget: int) -> int:
        return budget if self._definition is Definition.PURE else int(np.floor(np.sqrt(float(budget))))

    def _walk(self, periods: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """All periods down the splits together; at each split: which of them are still on their way, the weight of
        the answer there, and how far they lie behind its end (0: here, negative: before).

        In floats: a weight may differ from `weight` by one unit of the grid, which no digit shown depends on.
        """
        splits = self._splits
        shares = splits.shares * 2.0**-SHARE_BITS
        places, position = np.arange(periods.size), periods.astype(np.int64)
        at, budget = np.full(periods.size, splits.sizes.size - 1), np.full(periods.size, float(self._budget))
        while places.size:
            earlier = np.floor(budget * shares[at])
            own = budget - earlier
            behind = position - splits.middles[at]
            yield places, own if self._definition is Definition.PURE else np.floor(np.sqrt(own)), behind
            on = behind != 0
            before = behind[on] < 0
            at = np.where(before, splits.parts[0][at[on]], splits.parts[1][at[on]])
            budget = np.where(before, earlier[on], budget[on])
            position = np.where(before, position[on], behind[on])
            places = places[on]


class SplitStream(LinearStream):
    """A method whose strategy is splits."""

    @staticmethod
    @abstractmethod
    def splits(horizon: int, definition: Definition) -> Splits:
        """Those of a horizon, remembered."""

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        return {"grid": grid}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> SplitStrategy:
        return SplitStrategy(horizon or 0, definition, details["grid"], self.splits(horizon or 0, definition))


def joined(first: Floats, second: Floats, definition: Definition) -> Floats:
    """The energy of two groups of counts that share the weight as well as they can, from the `root` of each energy.

    Least of E/s² + F/(1-s)² is (E^⅓ + F^⅓)³ (L1); least of E/s + F/(1-s), s in squares, is (E^½ + F^½)² (L2).
    """
    total = first + second
    return total * total * total if definition is Definition.PURE else total * total


def root(x: Floats, definition: Definition) -> Floats:
    """x^⅓ (pure) or x^½ (zCDP) of x >= 0, with the same bits on every machine.

    A strategy that was laid down once must come out the same for ever; powers differ between libraries in their last
    bit, so the cube root is Newton's, from operations that IEEE 754 prescribes exactly.
    """
    if definition is not Definition.PURE:
        return np.sqrt(x)
    positive = np.maximum(x, 1e-300)
    _, exponent = np.frexp(positive)
    y = np.ldexp(1.0, exponent // 3 + 1)
    for _ in range(9):
        y = (2 * y + positive / (y * y)) / 3
    return np.where(x > 0, y, 0.0)


def share_of(first: Floats, second: Floats) -> Integers:
    """The share of the weight that the first group gets, from the `root` of each energy."""
    return np.floor(first / (first + second) * 2.0**SHARE_BITS).astype(np.int64)
