"""Every strategy as a matrix: its sensitivity, its privacy on a live stream, and its errors, against dense algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.continual import levels
from mechanisms.continual.direct import SolvedFenwick
from mechanisms.continual.epochs import DoublingEpochs, Hybrid, epoch_splits, epoch_trees
from mechanisms.continual.fda import fenwick_splits
from mechanisms.continual.hierarchy import Hierarchy
from mechanisms.continual.levels import Levels
from mechanisms.continual.naive import Increments, Republication
from mechanisms.continual.optimal_split import optimal_splits
from mechanisms.continual.splits import Splits, SplitStrategy
from mechanisms.continual.strategy import Strategy
from mechanisms.continual.tree import Blocks, RefinedBlocks
from tests.mechanisms.continual.running import Answer, Answers, matrix

PURE, ZCDP = Definition.PURE, Definition.ZCDP
GRID = 2**16


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


def hierarchy_answers(shape: Levels) -> list[Answer]:
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


def epoch_answers(trees: list[Levels], periods: int, definition: Definition) -> list[Answer]:
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


@dataclass(frozen=True)
class Case:
    """A strategy, what it measures in the order of drawing, and over how many periods."""

    name: str
    strategy: Strategy
    answers: list[Answer]
    periods: int
    exact: bool = True

    @property
    def matrix(self) -> np.ndarray:
        """A over all periods that an answer may reach."""
        return matrix(self.answers, max([self.periods, *(a.upto for a in self.answers)]))

    def __str__(self) -> str:
        return self.name


def _splits(n: int, definition: Definition, name: str, splits: Splits) -> Case:
    strategy = SplitStrategy(n, definition, GRID, splits)
    # Squares of whole weights add up to at most the square of the grid, seldom to all of it.
    return Case(
        f"{name} {definition} {n}", strategy, split_answers(n, strategy, splits), n, definition is PURE
    )


def _hierarchy(branching: tuple[int, ...], weights: tuple[int, ...], stretch: int) -> Case:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "LARGEST_STRETCH", stretch)
        shape = Levels(branching, weights)
        assert shape.stretch >= 0  # found while the patch holds
    return Case(
        f"hierarchy {branching} {weights} {stretch}",
        Hierarchy(shape),
        hierarchy_answers(shape),
        shape.sizes[-1],
    )


def _cases() -> Iterator[Case]:
    yield Case("increments", Increments(), [Answer(i, i + 1, 1) for i in range(9)], 9)
    yield Case("republication", Republication(9), [Answer(0, i + 1, 1) for i in range(9)], 9)
    for n in (1, 6, 8, 21):
        blocks = [Answer(i - lowest_bit(i), i, 1) for i in range(1, n + 1)]
        yield Case(f"tree {n}", Blocks(n), blocks, n)
        ending = [Answer(i - 2**h, i, 1) for i in range(1, n + 1) for h in range(lowest_bit(i).bit_length())]
        yield Case(f"refined tree {n}", RefinedBlocks(n), ending, n)
        for definition in Definition:
            yield _splits(n, definition, "fda", fenwick_splits(n, definition))
            solved = SolvedFenwick()
            strategy = solved.build(n, definition, solved.design(n, definition, GRID))
            weighted = [Answer(i - lowest_bit(i), i, strategy._weights[i - 1]) for i in range(1, n + 1)]  # type: ignore[attr-defined]
            yield Case(f"solved {definition} {n}", strategy, weighted, n)
    for n in (1, 27, 40):
        for definition in Definition:
            yield _splits(n, definition, "optimal split", optimal_splits(n, definition))
    for definition in Definition:
        trees = [
            Levels(tree.branching, tuple(int(GRID * w) for w in tree.weights))
            for tree in epoch_trees(definition)
        ][:4]
        strategy = DoublingEpochs(definition, GRID, [Hierarchy(tree) for tree in trees])
        yield Case(f"epochs {definition}", strategy, epoch_answers(trees, 63, definition), 63, False)
        hybrid = Hybrid(definition, GRID)
        yield Case(f"hybrid {definition}", hybrid, hybrid_answers(40, hybrid._weight), 40, False)
    for stretch in (1, 6, 2048):
        yield _hierarchy((3, 2, 4), (700, 500, 600, 0), stretch)
        yield _hierarchy((2, 3, 3), (700, 500, 600, 300), stretch)
    yield _hierarchy((7,), (5, 0), 2048)
    yield _hierarchy((), (5,), 2048)


CASES = list(_cases())
BY_NAME = pytest.mark.parametrize("case", CASES, ids=str)


@BY_NAME
def test_no_column_exceeds_the_stated_norms(case: Case) -> None:
    column, A = case.strategy.column, case.matrix
    l1, l2_squared = np.abs(A).sum(axis=0).max(), (A**2).sum(axis=0).max()
    assert l1 <= column.l1
    assert l2_squared <= column.l2_squared
    if case.exact and not isinstance(case.strategy, SplitStrategy):
        assert (l1, l2_squared) == (column.l1, column.l2_squared)


@pytest.mark.parametrize(
    "case", [c for c in CASES if isinstance(c.strategy, SplitStrategy) and c.exact], ids=str
)
def test_the_weights_over_some_increment_add_up_to_the_whole_grid(case: Case) -> None:
    assert case.matrix.sum(axis=0).max() == GRID


@BY_NAME
def test_answers_that_move_with_the_data_move_what_is_published_by_the_running_counts(case: Case) -> None:
    """G(z + Ax) = G(z) + Wx for whole x: what is published is a function of noisy answers, roundings and all."""
    generator = np.random.default_rng(1)
    answers, A = Answers(case.strategy), case.matrix
    for scale in (3, 10**5):
        z = generator.integers(-scale * GRID, scale * GRID + 1, size=len(A))
        x = generator.integers(0, 50, size=A.shape[1])
        moved = answers.noise_of(z + A @ x, case.periods) - answers.noise_of(z, case.periods)
        assert moved.tolist() == np.cumsum(x)[: case.periods].tolist()
        assert answers.asked == len(A)


@BY_NAME
def test_the_energies_are_the_squared_coefficients_of_the_noise(case: Case) -> None:
    answers, A, strong = Answers(case.strategy), case.matrix, 2**40
    periods = np.arange(1, case.periods + 1)
    B = np.stack(
        [answers.noise_of(z, case.periods) / strong for z in strong * np.eye(len(A), dtype=np.int64)], axis=1
    )
    assert case.strategy.energies(periods) == pytest.approx((B**2).sum(axis=1), rel=1e-6)
    assert np.all(case.strategy.fourth_powers(periods) >= (B**4).sum(axis=1) * (1 - 1e-6))
    assert case.strategy.mean_energy(case.periods) == pytest.approx((B**2).sum(axis=1).mean(), rel=1e-4)


def test_blocks_within_one_stretch_get_the_least_squares_estimate() -> None:
    case = next(c for c in CASES if c.name == "hierarchy (2, 3, 3) (700, 500, 600, 300) 2048")
    A = case.matrix.astype(float)
    covariance = np.linalg.inv(A.T @ A)
    W = np.tril(np.ones((18, 18)))
    best = np.diag(W @ covariance @ W.T)
    assert case.strategy.energies(np.arange(1, 19)) == pytest.approx(best)


def test_short_stretches_lose_little_to_least_squares() -> None:
    for weights in ((700, 500, 600, 0), (700, 500, 600, 300)):
        whole, cut = (
            _hierarchy((6, 6, 6), weights, stretch).strategy.mean_energy(216) for stretch in (2048, 6)
        )
        assert whole < cut < 1.2 * whole
