"""Streams without an end: epochs of 1, 2, 4, ... periods. An increment is in one of them, so each has the full loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.epoch_trees import EPOCH_TREES
from mechanisms.continual.fda import fenwick_splits
from mechanisms.continual.hierarchy import Hierarchy, from_grid, on_grid
from mechanisms.continual.level_tree import LevelTree
from mechanisms.continual.splits import Splits, SplitStrategy, root, share_of
from mechanisms.continual.strategy import (
    SHARE_BITS,
    Chained,
    Draw,
    StrategyState,
    StreamStrategy,
    fixed_point,
    rounded,
)
from mechanisms.continual.stream import LinearStream
from mechanisms.continual.tree import TreeBlocks
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity

# An epoch's sum counts as used by so many later counts for each period of the epoch; it fixes how weight is shared.
REUSE = 3
# No stream reaches this epoch: a bound for what grows with the number of epochs.
_LAST_EPOCH = 62


_Inner = Hierarchy | SplitStrategy


def epoch_of(period: int) -> int:
    """k with 2^k <= period < 2^(k+1)."""
    return period.bit_length() - 1


def epoch_trees(definition: Definition) -> list[LevelTree]:
    """The trees of the epochs of 2^0, 2^1, ... 2^16 periods, with weights of norm 1."""
    pure = definition is Definition.PURE
    trees = []
    for branching, parts in EPOCH_TREES[definition]:
        norm = sum(parts) if pure else math.sqrt(sum(p * p for p in parts))
        trees.append(LevelTree(branching, tuple(p / norm for p in parts)))
    return trees


class DoublingEpochs(StreamStrategy):
    """A strategy for each epoch, with an answer for the sum of the epoch, which all later counts use.

    Every epoch has the full weight, since an increment is in one epoch. trees: the strategies of the first epochs, at
    least of one, of norm at most `grid`; later ones are `epoch_splits`, which need not be laid down, however long the
    stream.
    """

    def __init__(self, definition: Definition, grid: int, trees: Sequence[Hierarchy]) -> None:
        self._definition, self._grid, self._trees = definition, grid, trees
        pure = definition is Definition.PURE
        self.column = Sensitivity(grid if pure else grid * (_LAST_EPOCH + 1), grid**2)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self._sums(periods, lambda inner, within: inner.energies(within))

    def fourth_powers(self, periods: np.ndarray) -> np.ndarray:
        return self._sums(periods, lambda inner, within: inner.fourth_powers(within))

    def increment_energies(self, periods: Integers) -> Floats:
        return self._changes(periods, lambda inner, within: inner.increment_energies(within))

    def increment_fourth_powers(self, periods: Integers) -> Floats:
        return self._changes(periods, lambda inner, within: inner.increment_fourth_powers(within))

    def _changes(self, periods: Integers, of: Callable[[_Inner, np.ndarray], np.ndarray]) -> Floats:
        """What `of` says of the epoch of each period: all that was before it stays as it is."""
        changes = np.zeros(periods.shape)
        epochs = np.frexp(periods.astype(np.float64))[1] - 1
        for epoch in np.unique(epochs).tolist():
            here = epochs == epoch
            changes[here] = of(self._epoch(epoch), periods[here] - (1 << epoch) + 1)
        return changes

    def mean_energy(self, horizon: int) -> float:
        total, before = 0.0, 0.0
        for epoch in range(epoch_of(horizon) + 1):
            size, inner = 1 << epoch, self._epoch(epoch)
            count = min(size, horizon - size + 1)
            complete = count == size
            own = (
                size * inner.mean_energy(size) if complete else inner.energies(np.arange(1, count + 1)).sum()
            )
            total += float(own) + count * before
            before += float(inner.energies(np.array([size]))[0])
        return total / horizon

    def _sums(self, periods: np.ndarray, of: Callable[[_Inner, np.ndarray], np.ndarray]) -> np.ndarray:
        """What `of` says of the whole epochs before, and of the epoch itself: their noise is independent."""
        result, before = np.zeros(periods.shape), 0.0
        for epoch in range(epoch_of(int(periods.max(initial=1))) + 1):
            size = 1 << epoch
            here = (periods >= size) & (periods < 2 * size)
            inner = self._epoch(epoch)
            result[here] = before + of(inner, periods[here] - size + 1)
            before += float(of(inner, np.array([size]))[0])
        return result

    def begin(self, draw: Draw) -> StrategyState:
        return {"before": 0, "current": 0}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """before, current: the noise of the epochs that are over, and of this one, (k,) in fixed point."""
        epoch = epoch_of(period)
        inner = self._epoch(epoch)
        if period == 1 << epoch:
            before, ended = (np.array(numbers[name], dtype=np.int64) for name in ("before", "current"))
            numbers = {"before": (before + ended).tolist(), "inner": inner.begin(draw)}
        current, state = inner.unrounded(period - (1 << epoch) + 1, numbers["inner"], draw)
        total = np.array(numbers["before"], dtype=np.int64) + current
        return rounded(total), {"before": numbers["before"], "current": current.tolist(), "inner": state}

    def _epoch(self, epoch: int) -> _Inner:
        if epoch < len(self._trees):
            return self._trees[epoch]
        return _split_epoch(epoch, self._definition, self._grid)


@lru_cache(maxsize=256)
def _split_epoch(epoch: int, definition: Definition, grid: int) -> SplitStrategy:
    return SplitStrategy(1 << epoch, definition, grid, epoch_splits(epoch, definition))


@lru_cache(maxsize=256)
def epoch_splits(epoch: int, definition: Definition) -> Splits:
    """FDA's splits of the first n - 1 of an epoch's n = 2^k periods, k >= 1, and an answer for all n."""
    n = 1 << epoch
    first = fenwick_splits(n - 1, definition)
    before, after = root(np.array([first.energy, REUSE * n + 1.0]), definition)
    share = int(share_of(before, after))
    part, power = share / 2**SHARE_BITS, 2 if definition is Definition.PURE else 1
    return Splits(
        sizes=np.append(first.sizes, n),
        middles=np.append(first.middles, n),
        shares=np.append(first.shares, share),
        energy=first.energy / part**power + 1 / (1 - part) ** power,
        depth=first.depth + 1,
    )


class Hybrid(Chained):
    """Half of the loss for the sums between the periods 1, 2, 4, ..., half for a binary tree inside each epoch.

    Source: Chan, Shi, Song 2011, the hybrid mechanism.
    """

    def __init__(self, definition: Definition, grid: int) -> None:
        self._definition, self._grid = definition, grid
        pure = definition is Definition.PURE
        # At most (1 + √62)/√2 < 7 for the sum of weights whose squares add up to 1.
        self.column = Sensitivity(grid if pure else 7 * grid, grid**2)

    def _weight(self, answers: int) -> int:
        """Of each of so many answers that share one half."""
        if self._definition is Definition.PURE:
            return self._grid // (2 * answers)
        return math.isqrt(self._grid**2 // (2 * answers))

    def powers(self, periods: Integers, power: int) -> Floats:
        epochs = np.frexp(periods.astype(np.float64))[1] - 1
        blocks = np.bitwise_count(periods - (np.int64(1) << epochs))
        between = (epochs + 1) * float(self._weight(1)) ** -power
        powers: Floats = between + blocks * self._inside[epochs] ** -power
        return powers

    def ending(self, periods: Integers) -> Floats:
        epochs = np.frexp(periods.astype(np.float64))[1] - 1
        begins = periods == np.int64(1) << epochs
        return np.where(begins, float(self._weight(1)), self._inside[epochs])

    @cached_property
    def _inside(self) -> Floats:
        """The weights inside each epoch; the first one has no inside."""
        return np.array([1.0, *(float(self._weight(k)) for k in range(1, _LAST_EPOCH + 1))])

    def begin(self, draw: Draw) -> StrategyState:
        return {"before": 0, "inner": {}}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """before: the noise of the count at the last power of two, (k,) in fixed point. inner: the tree's state."""
        epoch = epoch_of(period)
        before, position = np.array(numbers["before"], dtype=np.int64), period - (1 << epoch)
        if position == 0:
            total = before + fixed_point(draw(1)[0], self._weight(1))
            return rounded(total), {"before": total.tolist(), "inner": TreeBlocks(1).begin(draw)}

        def weighted(answers: int) -> np.ndarray:
            return fixed_point(draw(answers), self._weight(epoch))

        inside, state = TreeBlocks((1 << epoch) - 1).step(position, numbers["inner"], weighted)
        return rounded(before + inside), {"before": numbers["before"], "inner": state}


class EpochStream(LinearStream):
    """Trees of blocks in epochs that double, for streams without an end; a horizon only ends it."""

    name: ClassVar[str] = "doubling-epochs"
    whole_orders: ClassVar[bool] = True
    title: ClassVar[str] = "Doubling epochs"
    summary: ClassVar[str] = (
        "For streams without an end: the best blocks within epochs of 1, 2, 4, ... periods."
    )
    endless: ClassVar[bool] = True

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        return {"grid": grid, "epochs": [on_grid(tree, grid) for tree in epoch_trees(definition)]}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return DoublingEpochs(definition, details["grid"], [from_grid(tree) for tree in details["epochs"]])


class HybridStream(LinearStream):
    """The hybrid mechanism of Chan et al., for streams without an end; a horizon only ends it."""

    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "Hybrid tree without an end (Chan et al.)"
    summary: ClassVar[str] = (
        "For streams without an end: binary trees, and sums at every power of two, half the loss each."
    )
    endless: ClassVar[bool] = True

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        return {"grid": grid}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return Hybrid(definition, details["grid"])
