"""A tree of sums over blocks with many children, its levels weighted, reconciled by least squares on a live stream."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.level_tree import LevelTree
from mechanisms.continual.strategy import (
    SHARE_BITS,
    Draw,
    StrategyState,
    StreamStrategy,
    fixed_point,
    part_of,
    rounded,
)
from mechanisms.continual.stream import LinearStream
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity

_HIGHEST = 7
_BRANCHINGS = (*range(2, 17), 18, 20, 24, 28, 32, 40, 48, 64)
# How many shapes of tree have their weights optimised, of those that do best with equal ones.
_TRIED = 2
# Bound on the logarithm of a weight before normalising.
_STEEPEST = 3.0
# Periods up to which the search takes a moment.
_QUICK = 1024


class Hierarchy(StreamStrategy):
    """Weighted sums over the blocks of a tree, from which each running count takes the least-squares estimate.

    Every estimate is moved by a part of a contradiction only: what is known of a block less what is known of its
    children, in which the increments cancel. So true sums stay exact whatever the parts are and however
    they are rounded. `weights` are whole numbers; an increment is in one block of every level.
    """

    def __init__(self, levels: LevelTree) -> None:
        self._levels = levels
        weights = [int(w) for w in levels.weights]
        self.column = Sensitivity(sum(weights), sum(w**2 for w in weights))
        self._weights = weights

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self._levels.energies(periods)

    def mean_energy(self, horizon: int) -> float:
        return self._levels.mean_energy(horizon)

    def fourth_powers(self, periods: Integers) -> Floats:
        """An upper bound: no answer has a share of more than 1 in an estimate, so no coefficient exceeds 1/weight."""
        energies = self.energies(periods)
        bounds: Floats = energies * np.minimum(energies, min(w for w in self._weights if w) ** -2.0)
        return bounds

    def increment_energies(self, periods: Integers) -> Floats:
        return self._levels.increment_energies(periods)

    def increment_fourth_powers(self, periods: Integers) -> Floats:
        """An upper bound: two estimates differ in an answer by no more than 2/weight."""
        energies = self.increment_energies(periods)
        bounds: Floats = energies * np.minimum(energies, 4 * min(w for w in self._weights if w) ** -2.0)
        return bounds

    def begin(self, draw: Draw) -> StrategyState:
        return {"above": [], "stretch": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        noise, remembered = self.unrounded(period, numbers, draw)
        return rounded(noise), remembered

    def unrounded(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """`step` in fixed point: draw the noise of a stretch when it begins, and publish from it.

        above: for each level above a stretch, from the root down, the noise of what is known of the children of the
        current block, (b, k). stretch: the noise of the counts of the current stretch, (size, k).
        """
        place = (period - 1) % self._size
        if place == 0:
            numbers = self._opened(period - 1, numbers, draw)
        return np.array(numbers["stretch"][place], dtype=np.int64), numbers

    @property
    def _size(self) -> int:
        return self._levels.sizes[self._levels.stretch]

    def _opened(self, over: int, numbers: StrategyState, draw: Draw) -> StrategyState:
        """Open the stretch that begins after so many periods, and the blocks above it that begin there too."""
        levels = self._levels
        root = self._answers(1, levels.top, draw) if over == 0 else None
        known = None if root is None else root[0]
        above: list[list[list[int]]] = []
        before: np.ndarray | int = 0
        for i, level in enumerate(range(levels.top, levels.stretch, -1)):
            begins = over % levels.sizes[level] == 0
            children = (
                self._children(level, known, draw)
                if begins
                else np.array(numbers["above"][i], dtype=np.int64)
            )
            current = (over % levels.sizes[level] if level < levels.top else over) // levels.sizes[level - 1]
            before = before + children[:current].sum(axis=0)
            known = children[current]
            above.append(children.tolist())
        return {"above": above, "stretch": (before + self._running(known, draw)).tolist()}

    def _answers(self, blocks: int, level: int, draw: Draw) -> np.ndarray | None:
        """The noise of the answers of so many blocks of a level, (blocks, k), in fixed point; None if not measured."""
        weight = self._weights[level]
        return fixed_point(draw(blocks), weight) if weight else None

    def _children(self, level: int, known: np.ndarray | None, draw: Draw) -> np.ndarray:
        """(b, k): what is known of a block's children, from their own answers and what is known of the block."""
        answers = self._answers(self._levels.branching[level - 1], level - 1, draw)
        assert answers is not None  # only the root may lack a weight
        if known is None:
            return answers
        share = round(2**SHARE_BITS * self._levels.share(level, self._levels.outside[level]))
        children: np.ndarray = answers + part_of(known - answers.sum(axis=0), share)
        return children

    def _running(self, known: np.ndarray | None, draw: Draw) -> np.ndarray:
        """(size, k): the noise of the running sums within a new stretch, by least squares up and down its tree."""
        if self._levels.stretch == 0:
            assert known is not None
            return known[np.newaxis]
        estimates = self._upwards(draw)
        total = estimates[-1].sum(axis=0)
        if known is not None:
            total = known + part_of(total - known, round(2**SHARE_BITS * self._levels.from_inside))
        blocks = total[np.newaxis]
        for level, children in zip(range(self._levels.stretch, 0, -1), reversed(estimates), strict=True):
            grouped = children.reshape(len(blocks), self._levels.branching[level - 1], -1)
            lacking = (blocks - grouped.sum(axis=1)) // self._levels.branching[level - 1]
            blocks = (grouped + lacking[:, np.newaxis]).reshape(len(children), -1)
        return np.cumsum(blocks, axis=0)

    def _upwards(self, draw: Draw) -> list[np.ndarray]:
        """For the levels below a stretch: the estimate of each block from its own answer and those inside it."""
        levels = self._levels
        estimates: list[np.ndarray] = []
        for level in range(levels.stretch):
            answers = self._answers(self._size // levels.sizes[level], level, draw)
            assert answers is not None  # only the root may lack a weight
            if estimates:
                inside = estimates[-1].reshape(len(answers), levels.branching[level - 1], -1).sum(axis=1)
                own = levels.weights[level] ** 2 * levels.inside[level]
                answers = inside + part_of(answers - inside, round(2**SHARE_BITS * own))
            estimates.append(answers)
        return estimates


class HierarchicalStream(LinearStream):
    """Blocks of many periods, with branching and level weights optimised, reconciled by least squares.

    Noise is drawn ahead, one stretch of at most 2,048 periods at a time: it depends on no data, so the live stream
    is as private as if all had been asked at once (see the README). Source: Hay et al. 2010; Qardaji, Yang, Li 2013.
    """

    name: ClassVar[str] = "hierarchy"
    whole_orders: ClassVar[bool] = True
    title: ClassVar[str] = "Blocks of many periods, reconciled"
    summary: ClassVar[str] = (
        "Sums over blocks of periods at a few levels, made consistent with each other by least squares."
    )

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        return on_grid(best_levels(horizon or 0, definition), grid)

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> Hierarchy:
        return from_grid(details)


def on_grid(levels: LevelTree, grid: int) -> dict[str, object]:
    """A tree as JSON, its weights of norm 1 made whole, of norm at most `grid`."""
    # A little less, so that no error of float arithmetic makes them longer.
    weights = [math.floor(grid * w * (1 - 2**-40)) for w in levels.weights]
    return {"branching": list(levels.branching), "weights": weights}


def from_grid(tree: Mapping[str, list[int]]) -> Hierarchy:
    """The strategy of a tree that `on_grid` wrote."""
    return _hierarchy(tuple(tree["branching"]), tuple(tree["weights"]))


@lru_cache(maxsize=256)
def _hierarchy(branching: tuple[int, ...], weights: tuple[int, ...]) -> Hierarchy:
    return Hierarchy(LevelTree(branching, weights))


def _best_levels(horizon: int, definition: Definition, reuse: int = 0) -> LevelTree:
    """The tree over N periods of least mean energy, among those of one branching but for the root's children.

    reuse: how many later counts use the last one, for each of the periods. The weights add up to 1 (pure), or their
    squares do (zCDP).
    """

    def energy(levels: LevelTree) -> float:
        return levels.mean_energy(horizon) + reuse * float(levels.energies(np.array([horizon]))[0])

    def weighted(shape: tuple[int, ...], logarithms: np.ndarray) -> LevelTree:
        """Weights in proportion to e^logarithm, of norm 1, and 0 for a root that is not measured."""
        weights = np.exp(logarithms)
        weights /= weights.sum() if definition is Definition.PURE else math.sqrt((weights**2).sum())
        return LevelTree(shape, (*weights.tolist(), *[0.0] * (len(shape) + 1 - len(weights))))

    def equal(shape: tuple[int, ...]) -> np.ndarray:
        # Under a pure loss the best trees spend nothing on the root, unless its sum is used again.
        return np.zeros(len(shape) + (definition is Definition.ZCDP or reuse > 0 or not shape))

    def optimised(shape: tuple[int, ...]) -> LevelTree:
        start = equal(shape)
        solution = minimize(
            lambda logarithms: math.log(energy(weighted(shape, logarithms))),
            start,
            method="L-BFGS-B",
            bounds=[(-_STEEPEST, _STEEPEST)] * len(start),
            options={"ftol": 1e-6},
        )
        return weighted(shape, solution.x)

    shapes = sorted(_shapes(horizon), key=lambda shape: energy(weighted(shape, equal(shape))))
    return min(map(optimised, shapes[:_TRIED]), key=energy)


best_levels = Search(
    "running-count-levels",
    1,
    _best_levels,
    takes_long=lambda horizon, definition, reuse=0: horizon > _QUICK,
    form=JsonForm(
        write_arguments=lambda horizon, definition, reuse=0: [horizon, definition.value, reuse],
        read_arguments=lambda spelled: (spelled[0], Definition(spelled[1]), spelled[2]),
        write=lambda levels: [list(levels.branching), list(levels.weights)],
        read=lambda solution: LevelTree(tuple(solution[0]), tuple(solution[1])),
    ),
)


def _shapes(horizon: int) -> Iterator[tuple[int, ...]]:
    """Trees whose lower blocks all have the same number of children, and the root as many as the horizon needs."""
    if horizon <= _BRANCHINGS[-1]:
        yield (horizon,) if horizon > 1 else ()
    for height in range(2, _HIGHEST + 1):
        for branching in _BRANCHINGS:
            top = -(-horizon // branching ** (height - 1))
            if max(2, branching / 4) <= top <= 2 * branching:
                yield (*[branching] * (height - 1), top)
