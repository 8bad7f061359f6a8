"""Cells that are not negative: against scipy's solvers, the optimality conditions, and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import OptimizeResult, lsq_linear

from mechanisms.accounting import Definition
from mechanisms.linear.tree import Tree
from mechanisms.matrix.most_likely import most_likely
from mechanisms.matrix.reconstruction import non_negative, possible_cells
from mechanisms.matrix.strategy.hierarchy import best_tree_rows
from mechanisms.matrix.strategy.levels import TreeRows
from mechanisms.matrix.strategy.product import Kronecker, Strategy
from mechanisms.matrix.strategy.rows import IdentityRows
from mechanisms.matrix.workload.factor import Prefix


def sparse_counts(cells: int, seed: int) -> np.ndarray:
    """Mostly empty cells, a few of them crowded."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(cells) < 0.2, rng.integers(1, 500, cells), 0)


def noisy(strategy: Strategy, seed: int, spread: float = 20.0) -> np.ndarray:
    """Noisy sums of mostly empty cells; the noise is in rows."""
    cells = int(np.prod(strategy.shape))
    scale = spread * np.sqrt(strategy.column.l2_squared)
    return strategy.answers(sparse_counts(cells, seed)) + np.random.default_rng(seed).normal(
        0, scale, strategy.size
    ).astype(np.int64)


def small() -> Kronecker:
    return Kronecker([TreeRows(Tree((2, 1, 0, 1)), 7), IdentityRows(3)])


def large() -> Kronecker:
    return Kronecker(
        [best_tree_rows([(1.0, Prefix(64))], Definition.PURE, 16), TreeRows(Tree((1, 0, 1, 0, 0)), 16)]
    )


def test_non_negative_least_squares_are_scipys() -> None:
    strategy, values = small(), noisy(small(), 1)
    estimate = strategy.estimate(values)
    assert estimate.min() < 0
    wanted = lsq_linear(strategy.matrix().toarray(), values, bounds=(0, np.inf), tol=1e-14).x
    assert non_negative(strategy, values, estimate) == pytest.approx(wanted, abs=1e-4)


def test_beyond_the_exact_method_the_optimality_conditions_hold() -> None:
    strategy, values = large(), noisy(large(), 2)
    estimate = strategy.estimate(values)
    cells = non_negative(strategy, values, estimate)
    assert estimate.min() < -10
    assert cells.min() >= 0
    gradient = strategy.gram_times(cells) - strategy.transposed_times(values)
    steepness = np.abs(strategy.gram_times(np.maximum(estimate, 0)) - strategy.transposed_times(values)).max()
    assert gradient.min() >= -1e-4 * steepness
    assert np.abs(gradient[cells > 1e-2]).max() <= 1e-4 * steepness


def test_an_estimate_that_is_not_negative_stays() -> None:
    estimate = np.arange(21.0)
    assert non_negative(small(), np.zeros(small().size), estimate) is estimate


def objective(matrix: np.ndarray, values: np.ndarray, cells: np.ndarray) -> float:
    return float(np.abs(values - matrix @ cells).sum())


@pytest.mark.parametrize("seed", range(4))
def test_no_possible_cells_are_likelier(seed: int) -> None:
    strategy = Kronecker([TreeRows(Tree((2, 1, 0, 1)), 7)])
    matrix, values = strategy.matrix(), noisy(strategy, seed)
    A = np.asarray(matrix.todense(), dtype=float)
    estimate = np.linalg.lstsq(A, values, rcond=None)[0]
    cells = most_likely(matrix, values, estimate)
    assert cells.min() >= 0
    reached = objective(A, values, cells)
    rng = np.random.default_rng(seed)
    for scale in (0.01, 1.0, 30.0):
        for _ in range(300):
            other = np.maximum(cells + rng.normal(0, scale, 7) * (rng.random(7) < 0.5), 0)
            assert objective(A, values, other) >= reached - 1e-5


def test_of_all_most_likely_cells_the_nearest_to_least_squares_are_taken() -> None:
    # Two sums of the same cells: anything between them is as likely.
    A = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    values = np.array([10, 20, 5, 9])
    cells = most_likely(sparse.csr_array(A), values, np.array([3.0, 9.0, -4.0]))
    # 3 + 9 lies between 10 and 20, so those stay; the third moves up to where its sums begin.
    assert cells == pytest.approx([3, 9, 5], abs=1e-5)
    cells = most_likely(sparse.csr_array(A), values, np.array([4.0, -3.0, 7.0]))
    # The second may not be negative, so the first makes up the least sum of 10.
    assert cells == pytest.approx([8.5, 1.5, 7], abs=1e-5)


def test_more_cells_than_the_programme_takes_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 4,096"):
        most_likely(sparse.eye_array(4097, dtype=np.int64, format="csr"), np.zeros(4097), np.zeros(4097))


def test_least_squares_stand_in_where_the_programme_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """After measuring the loss is spent: a solver that gives up must not end the release."""
    strategy = Kronecker([TreeRows(Tree((2, 1, 0, 1)), 7)])
    values = noisy(strategy, 1)
    estimate = strategy.estimate(values)
    assert possible_cells("l1", strategy, values, estimate)[1] == "l1"
    failed = OptimizeResult(status=4, message="numerical difficulties")
    monkeypatch.setattr("mechanisms.matrix.most_likely.linprog", lambda *_, **__: failed)
    cells, way = possible_cells("l1", strategy, values, estimate)
    assert way == "nnls"
    assert np.array_equal(cells, non_negative(strategy, values, estimate))
