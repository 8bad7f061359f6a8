"""Windows of one width: least squares, errors and distances against matrices that are written out."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.matrix.optimise.bound import nuclear_norm
from mechanisms.matrix.strategy.rows import RangeRows
from mechanisms.matrix.strategy.windows import WindowRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.union import Term, Workload

SIZES = [(1, 1), (5, 1), (5, 5), (6, 5), (7, 3), (8, 3), (9, 4), (24, 4), (25, 7), (40, 16)]


def of(cells: int, width: int) -> tuple[WindowRows, np.ndarray]:
    rows = WindowRows(Width(cells, width))
    return rows, rows.matrix().toarray().astype(float)


@pytest.mark.parametrize(("cells", "width"), SIZES)
def test_least_squares_are_those_of_the_matrix(cells, width):
    rows, matrix = of(cells, width)
    inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-9)
    random = np.random.default_rng(1)
    for shape in ((cells,), (cells, 3), (cells, 2, 3)):
        x = random.normal(size=shape)
        np.testing.assert_allclose(rows.solve(x), np.tensordot(inverse, x, 1), atol=1e-7)
    answers = random.normal(size=len(matrix))
    estimate = rows.solve(rows.transposed_times(answers))
    np.testing.assert_allclose(estimate, np.linalg.pinv(matrix, rcond=1e-9) @ answers, atol=1e-7)


@pytest.mark.parametrize(("cells", "width"), SIZES)
def test_errors_and_what_can_be_answered_are_those_of_the_matrix(cells, width):
    rows, matrix = of(cells, width)
    inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-9)
    drawn = Explicit(np.random.default_rng(2).normal(size=(3, cells)))
    seen = Explicit(matrix[:2] * 2.5)
    others: list[Factor] = [Identity(cells), Total(cells), Prefix(cells), AllRange(cells), drawn, seen]
    others += [Width(cells, other) for other in {width, min(cells, 2 * width), 1}]
    for factor in others:
        asked = factor.times(np.eye(cells))
        np.testing.assert_allclose(
            rows.variances(factor), np.diag(asked @ inverse @ asked.T), rtol=1e-9, atol=1e-7
        )
        together = np.linalg.matrix_rank(np.vstack([matrix, asked]))
        rank = np.linalg.matrix_rank(asked)
        assert rows.dimensions(factor) == (len(matrix) + rank - together, rank)
    assert rows.complete == (np.linalg.matrix_rank(matrix) == cells)


@pytest.mark.parametrize(("cells", "width"), SIZES)
def test_a_row_moves_the_windows_as_it_moves_the_matrix(cells, width):
    rows, matrix = of(cells, width)
    apart = max(int(np.abs(a - b).sum()) for a in matrix.T for b in matrix.T) or int(matrix.sum(axis=0).max())
    assert (rows.replaced.l1, rows.replaced.l2_squared) == (apart, apart)
    written = RangeRows(Width(cells, width))
    assert (rows.column, rows.replaced) == (written.column, written.replaced)
    np.testing.assert_array_equal(rows.pairs.facts, written.pairs.facts)


@pytest.mark.parametrize(("cells", "width"), SIZES)
def test_the_bound_for_windows_is_the_sum_of_their_singular_values(cells, width):
    _rows, matrix = of(cells, width)
    workload = Workload((cells,), (Term(1.0, {0: Width(cells, width)}),), "windows")
    assert nuclear_norm(workload) == pytest.approx(np.linalg.svd(matrix, compute_uv=False).sum(), rel=1e-9)


@pytest.mark.slow
def test_a_million_cells_keep_their_digits():
    """Each estimate of a window is its answer, since no window is a sum of others."""
    rows = WindowRows(Width(2**20, 1000))
    answers = np.random.default_rng(3).integers(-(10**6), 10**6, rows.rows).astype(float)
    estimate = rows.solve(rows.transposed_times(answers))
    np.testing.assert_allclose(rows.times(estimate), answers, atol=1e-2)
    assert rows.trace(Width(2**20, 1000)) == rows.rows
