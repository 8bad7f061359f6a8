"""Strategies in tests as matrices: what they ask, and what they make of given noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.continual.epochs import DoublingEpochs, Hybrid, epoch_splits
from mechanisms.continual.fenwick_slsqp import WeightedFenwick
from mechanisms.continual.hierarchy import Hierarchy
from mechanisms.continual.level_tree import LevelTree
from mechanisms.continual.naive import Increments, Republication
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.splits import Splits, SplitStrategy
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.tree import RefinedBlocks, TreeBlocks
from mechanisms.continual.triangular import Triangular

# What the weights add up to, where a test builds its own strategy.
GRID = 2**16


@dataclass
class Answers:
    """A strategy run on given noise: `given` is handed out in the order in which it is asked for."""

    strategy: StreamStrategy
    asked: int = field(default=0)

    def noise_of(self, given: np.ndarray, periods: int) -> np.ndarray:
        """(periods,) G(z), the noise of the running counts, for the (m,) noise z of the strategy's answers."""
        self.asked = 0

        def draw(answers: int) -> np.ndarray:
            self.asked += answers
            return given[self.asked - answers : self.asked, np.newaxis].astype(np.int64)

        numbers = self.strategy.begin(draw)
        noise = []
        for period in range(1, periods + 1):
            part, numbers = self.strategy.step(period, numbers, draw)
            noise.append(int(part[0]))
        return np.array(noise)


@dataclass(frozen=True)
class Answer:
    """One weighted sum over the periods after..upto, in the order of drawing."""

    after: int
    upto: int
    weight: int


def matrix(answers: list[Answer], periods: int) -> np.ndarray:
    """A, (m, periods) whole numbers."""
    rows = np.zeros((len(answers), periods), dtype=np.int64)
    for row, answer in zip(rows, answers, strict=True):
        row[answer.after : answer.upto] = answer.weight
    return rows


def lowest_bit(i: int) -> int:
    return i & -i


def split_answers(n: int, strategy: SplitStrategy, splits: Splits, after: int = 0) -> list[Answer]:
    """The answers over the next n periods in the order of their ends, each from where its part begins."""

    def walk(size: int, start: int) -> Iterator[tuple[int, int]]:
        if size:
            middle, _share = splits.at(size)
            yield from walk(middle - 1, start)
            yield start, start + middle
            yield from walk(size - middle, start + middle)

    return [Answer(after + a, after + b, strategy.weight(b)) for a, b in walk(n, 0)]


def hierarchy_answers(shape: LevelTree) -> list[Answer]:
    """Stretch by stretch: the root, the children of each block that begins, and all blocks inside the stretch."""
    weights, sizes = [int(w) for w in shape.weights], shape.sizes
    answers: list[Answer] = []

    def blocks(level: int, after: int, upto: int) -> None:
        answers.extend(Answer(i, i + sizes[level], weights[level]) for i in range(after, upto, sizes[level]))

    for start in range(0, sizes[-1], sizes[shape.stretch]):
        if start == 0 and weights[-1]:
            blocks(shape.top, 0, sizes[-1])
        for level in range(shape.top, shape.stretch, -1):
            if start % sizes[level] == 0:
                blocks(level - 1, start, start + sizes[level])
        for level in range(shape.stretch):
            blocks(level, start, start + sizes[shape.stretch])
    return answers


def epoch_answers(trees: list[LevelTree], periods: int, definition: Definition) -> list[Answer]:
    answers = []
    for epoch in range(periods.bit_length()):
        n = 1 << epoch
        if epoch < len(trees):
            answers += [
                Answer(a.after + n - 1, a.upto + n - 1, a.weight) for a in hierarchy_answers(trees[epoch])
            ]
            continue
        splits = epoch_splits(epoch, definition)
        answers += split_answers(n, SplitStrategy(n, definition, GRID, splits), splits, after=n - 1)
    return answers


def hybrid_answers(periods: int, weight: Callable[[int], int]) -> list[Answer]:
    answers = []
    for t in range(1, periods + 1):
        epoch = t.bit_length() - 1
        inside = t - (1 << epoch)
        if inside:
            answers.append(Answer(t - lowest_bit(inside), t, weight(epoch)))
        else:
            answers.append(Answer(t // 2, t, weight(1)))
    return answers


def blocks(periods: int) -> list[Answer]:
    """Fenwick's tree: the block that ends with each period."""
    return [Answer(i - lowest_bit(i), i, 1) for i in range(1, periods + 1)]


def refined_blocks(periods: int) -> list[Answer]:
    """All dyadic blocks that end with each period."""
    ends = range(1, periods + 1)
    return [Answer(i - 2**h, i, 1) for i in ends for h in range(lowest_bit(i).bit_length())]


def weighted_blocks(strategy: WeightedFenwick, periods: int) -> list[Answer]:
    """Fenwick's tree with the weights of its rows."""
    return [Answer(a.after, a.upto, w) for a, w in zip(blocks(periods), strategy._weights, strict=True)]


def strategy_matrix(strategy: StreamStrategy, periods: int, definition: Definition) -> np.ndarray:
    """A, (answers, periods) whole numbers, of a strategy as it is planned."""
    answers: list[Answer]
    match strategy:
        case Increments():
            return np.eye(periods, dtype=np.int64)
        case Republication():
            return np.tril(np.ones((periods, periods), dtype=np.int64))
        case NestedWindows():
            return np.vstack([np.diag(strategy.own), strategy.unit * strategy.multiples])
        case Triangular():
            rows = [strategy.row(t) for t in range(1, periods + 1)]
            return np.array([np.pad(row, (0, periods - row.size)) for row in rows])
        case TreeBlocks():
            answers = blocks(periods)
        case RefinedBlocks():
            answers = refined_blocks(periods)
        case WeightedFenwick():
            answers = weighted_blocks(strategy, periods)
        case SplitStrategy():
            answers = split_answers(periods, strategy, strategy._splits)
        case Hierarchy():
            answers = hierarchy_answers(strategy._levels)
        case DoublingEpochs():
            trees = [tree._levels for tree in strategy._trees]
            answers = epoch_answers(trees[: periods.bit_length()], periods, definition)
        case Hybrid():
            answers = hybrid_answers(periods, strategy._weight)
        case _:
            raise TypeError(f"no matrix is known of {type(strategy).__name__}")
    reach = max([periods, *(a.upto for a in answers)])
    return matrix(answers, reach)[:, :periods]
