"""Every strategy as a matrix: its sensitivity, its privacy on a live stream, and its errors, against dense algebra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.continual import level_tree
from mechanisms.continual.epochs import DoublingEpochs, Hybrid, epoch_trees
from mechanisms.continual.fda import fenwick_splits
from mechanisms.continual.fenwick_slsqp import SolvedFenwick, WeightedFenwick
from mechanisms.continual.hierarchy import Hierarchy
from mechanisms.continual.level_tree import LevelTree
from mechanisms.continual.naive import Increments, Republication
from mechanisms.continual.optimal_split import optimal_splits
from mechanisms.continual.splits import Splits, SplitStrategy
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.tree import RefinedBlocks, TreeBlocks
from tests.mechanisms.continual.running import (
    GRID,
    Answer,
    Answers,
    blocks,
    epoch_answers,
    hierarchy_answers,
    hybrid_answers,
    matrix,
    refined_blocks,
    split_answers,
    weighted_blocks,
)

PURE, ZCDP = Definition.PURE, Definition.ZCDP


@dataclass(frozen=True)
class Case:
    """A strategy, what it measures in the order of drawing, and over how many periods."""

    name: str
    strategy: StreamStrategy
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
        patch.setattr(level_tree, "LARGEST_STRETCH", stretch)
        shape = LevelTree(branching, weights)
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
        yield Case(f"tree {n}", TreeBlocks(n), blocks(n), n)
        yield Case(f"refined tree {n}", RefinedBlocks(n), refined_blocks(n), n)
        for definition in Definition:
            yield _splits(n, definition, "fda", fenwick_splits(n, definition))
            solved = SolvedFenwick()
            strategy = solved.build(n, definition, solved.design(n, definition, GRID))
            assert isinstance(strategy, WeightedFenwick)
            yield Case(f"solved {definition} {n}", strategy, weighted_blocks(strategy, n), n)
    for n in (1, 27, 40):
        for definition in Definition:
            yield _splits(n, definition, "optimal split", optimal_splits(n, definition))
    for definition in Definition:
        trees = [
            LevelTree(tree.branching, tuple(int(GRID * w) for w in tree.weights))
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
    steps = np.diff(B, axis=0, prepend=0.0)
    assert case.strategy.increment_energies(periods) == pytest.approx((steps**2).sum(axis=1), rel=1e-6)
    assert np.all(case.strategy.increment_fourth_powers(periods) >= (steps**4).sum(axis=1) * (1 - 1e-6))
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
