"""The tree and the wavelet as matrices: sensitivity, least squares and variances against dense algebra."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.histogram.strategy import CellStrategy
from mechanisms.linear.dyadic import range_energies, scales, workload_energies
from mechanisms.linear.haar import Haar, best_haar
from mechanisms.linear.tree import Tree, best_tree, integer_weights

STRATEGIES: list[CellStrategy] = [
    Tree((1,)),
    Tree((3, 1)),
    Tree((2, 0, 1)),
    Tree((5, 2, 0, 3)),
    Tree((1, 0, 0, 4)),
    Haar((2,)),
    Haar((1, 1)),
    Haar((4, 1, 2)),
    Haar((3, 1, 2, 5)),
]


def matrix(strategy: CellStrategy) -> np.ndarray:
    """The strategy as (size, 2^K) integers, one column for each cell."""
    return np.stack(
        [strategy.answers(cell) for cell in list(np.eye(2**strategy.scales, dtype=np.int64))], axis=1
    )


def workload(purpose: str, cells: int) -> np.ndarray:
    """All queries of a purpose over the real cells, padded to a power of two."""
    ranges = {
        "cells": [(i, i + 1) for i in range(cells)],
        "totals": [(0, i + 1) for i in range(cells)],
        "ranges": [(i, j) for i in range(cells) for j in range(i + 1, cells + 1)],
    }[purpose]
    queries = np.zeros((len(ranges), 2 ** scales(cells)))
    for row, (i, j) in zip(queries, ranges, strict=True):
        row[i:j] = 1
    return queries


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_a_row_that_enters_moves_the_answers_by_the_columns_norms(strategy: CellStrategy) -> None:
    columns = matrix(strategy).T
    assert {int(np.abs(c).sum()) for c in columns} == {strategy.column.l1}
    assert {int((c**2).sum()) for c in columns} == {strategy.column.l2_squared}


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s.scales], ids=str)
def test_a_row_that_changes_its_cell_moves_the_answers_by_the_columns_distance(
    strategy: CellStrategy,
) -> None:
    gaps = [a - b for a, b in itertools.combinations(matrix(strategy).T, 2)]
    assert max(int(np.abs(g).sum()) for g in gaps) == strategy.replaced.l1
    assert max(int((g**2).sum()) for g in gaps) == strategy.replaced.l2_squared


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_the_estimate_is_the_least_squares_one(strategy: CellStrategy) -> None:
    A = matrix(strategy)
    values = np.random.default_rng(1).integers(-50, 50, size=(strategy.size,))
    assert strategy.estimate(values) == pytest.approx(np.linalg.lstsq(A, values, rcond=None)[0], abs=1e-9)


@pytest.mark.parametrize("strategy", [*STRATEGIES, best_tree("ranges", 1000, Definition.PURE)], ids=str)
def test_answers_without_noise_give_back_the_cells(strategy: CellStrategy) -> None:
    counts = np.random.default_rng(2).integers(0, 10**6, 2**strategy.scales)
    assert strategy.estimate(strategy.answers(counts)) == pytest.approx(counts, abs=1e-6)


@pytest.mark.parametrize("cells", [1, 2, 5, 8])
@pytest.mark.parametrize("purpose", ["cells", "ranges", "totals"])
@pytest.mark.parametrize("kind", [Tree, Haar])
def test_energies_over_eigenvalues_are_the_mean_variance(
    kind: type[Tree] | type[Haar], purpose: str, cells: int
) -> None:
    strategy: CellStrategy = kind((3, 1, 4, 2)[: scales(cells) + 1])
    A, W = matrix(strategy), workload(purpose, cells)
    dense = np.trace(W @ np.linalg.inv(A.T @ A) @ W.T) / len(W)
    energies = workload_energies(purpose, cells)
    assert sum(c / v for c, v in zip(energies, strategy.eigenvalues, strict=True)) == pytest.approx(dense)


@pytest.mark.parametrize("strategy", [Tree((5, 2, 0, 3)), Haar((3, 1, 2, 5))], ids=str)
def test_the_variance_of_every_range_is_its_dense_one(strategy: CellStrategy) -> None:
    A = matrix(strategy)
    inverse = np.linalg.inv(A.T @ A)
    for start, stop in itertools.combinations(range(9), 2):
        energies = range_energies(start, stop, 3)
        variance = sum(c / v for c, v in zip(energies, strategy.eigenvalues, strict=True))
        assert variance == pytest.approx(inverse[start:stop, start:stop].sum())


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_cell_coefficients_are_the_row_of_the_pseudoinverse(strategy: CellStrategy) -> None:
    row = np.sort(np.abs(np.linalg.pinv(matrix(strategy))[0]))
    told = np.sort([abs(a) for a, times in strategy.cell_coefficients() for _ in range(times)])
    assert told[told > 1e-9] == pytest.approx(row[row > 1e-9])


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("purpose", ["ranges", "totals"])
def test_no_level_of_the_best_tree_wants_another_weight(purpose: str, definition: Definition) -> None:
    best = best_tree(purpose, 256, definition)
    error = _error(best, purpose, 256, definition)
    for e, change in itertools.product(best.levels, (0.9, 1.1)):
        weights = list(best.weights)
        weights[e] = round(change * weights[e])
        assert _error(Tree(tuple(weights)), purpose, 256, definition) > error


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("scale", range(9))
def test_no_scale_of_the_best_wavelet_wants_another_weight(scale: int, definition: Definition) -> None:
    best = best_haar("totals", 256, definition)
    weights = list(best.weights)
    weights[scale] = round(1.1 * weights[scale])
    assert _error(Haar(tuple(weights)), "totals", 256, definition) > _error(best, "totals", 256, definition)


def _error(strategy: CellStrategy, purpose: str, cells: int, definition: Definition) -> float:
    """Mean variance times the squared norm that fixes the noise."""
    column = strategy.column
    norm = column.l1**2 if definition is Definition.PURE else column.l2_squared
    pairs = zip(workload_energies(purpose, cells), strategy.eigenvalues, strict=True)
    return norm * sum(c / v for c, v in pairs)


def test_single_cells_are_best_measured_alone() -> None:
    assert best_tree("cells", 300, Definition.PURE) == Tree((1, *[0] * 9))


def test_weights_become_integers_in_proportion() -> None:
    assert integer_weights([0.5, 0.0, 0.25, 0.25]) == (2, 0, 1, 1)


def test_a_tree_without_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="for single cells"):
        Tree((0, 1))
