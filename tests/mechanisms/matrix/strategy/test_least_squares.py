"""Fewer sums than cells: least squares, errors and dimensions as of the pseudo-inverse, without one of all cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from mechanisms.matrix.strategy import pseudo_inverse
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total

RANDOM = np.random.default_rng(4)
OVERLAPPING = (RANDOM.random((7, 30)) < 0.5).astype(np.int64)
MATRICES = {
    "one sum": np.ones((1, 9), dtype=np.int64),
    "overlapping": OVERLAPPING,
    "one sum twice": np.vstack([OVERLAPPING, OVERLAPPING[:1]]),
    "signs and weights": RANDOM.integers(-50, 50, (12, 13)),
    "sparse": np.eye(6, 80, 3, dtype=np.int64),
}
every_matrix = pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)


@every_matrix
def test_least_squares_are_those_of_the_pseudo_inverse(matrix):
    rows, pseudo = MatrixRows(matrix), np.linalg.pinv(matrix.T @ matrix, rcond=1e-10)
    cells = matrix.shape[1]
    for shape in ((cells,), (cells, 2), (cells, 2, 3)):
        x = RANDOM.normal(size=shape)
        np.testing.assert_allclose(rows.solve(x), np.tensordot(pseudo, x, 1), atol=1e-9)


@every_matrix
def test_errors_and_what_can_be_answered_are_those_of_the_pseudo_inverse(matrix):
    rows, cells = MatrixRows(matrix), matrix.shape[1]
    pseudo = np.linalg.pinv(matrix.T @ matrix, rcond=1e-10)
    seen = Explicit(2.5 * matrix[-1:])
    others: list[Factor] = [Identity(cells), Total(cells), Prefix(cells), AllRange(cells), seen]
    for factor in (*others, Explicit(RANDOM.normal(size=(3, cells)))):
        asked = factor.times(np.eye(cells))
        variances = np.diag(asked @ pseudo @ asked.T)
        np.testing.assert_allclose(rows.variances(factor), variances, rtol=1e-8, atol=1e-9)
        assert rows.trace(factor) == pytest.approx(variances.sum(), rel=1e-8)
        own, rank = (int(np.linalg.matrix_rank(m)) for m in (matrix, asked))
        together = int(np.linalg.matrix_rank(np.vstack([matrix, asked])))
        assert rows.dimensions(factor) == (own + rank - together, rank)
    assert not rows.complete


def test_a_few_sums_of_many_cells_need_no_inverse_of_all_cells(monkeypatch):
    """20 sums of 8,000 cells took 190 seconds and 2.7 GB."""
    matrix = sparse.random_array((20, 8_000), density=0.3, rng=np.random.default_rng(1), format="csr")
    matrix.data[:] = 1
    largest = []
    written = pseudo_inverse.Inverse.__init__

    def noted(self, gram):
        largest.append(len(gram))
        written(self, gram)

    monkeypatch.setattr(pseudo_inverse.Inverse, "__init__", noted)
    rows, asked = MatrixRows.of(matrix.toarray()), Explicit(matrix)
    assert rows.dimensions(asked) == (20, 20)
    # What is asked is what is measured, so that each answer has at most the variance of its own sum.
    assert 0 < rows.trace(asked) <= 20 and (rows.variances(asked) <= 1 + 1e-9).all()
    assert largest == [20]
