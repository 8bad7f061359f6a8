"""The pseudo-inverse of a Gram matrix, and whether its strategy can answer a workload."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky, lapack

from mechanisms.arrays import Floats
from mechanisms.matrix.workload.factor import NEGLIGIBLE
from mechanisms.refusal import Wording

# Cells up to which a matrix of cells by cells is made.
MAX_DENSE = 2**13


def too_many(cells: int) -> str:
    """Why a column of so many cells has no inverse that fits in memory; empty if it has one."""
    if cells <= MAX_DENSE:
        return ""
    return Wording(
        "A column has {cells:,} cells, and this strategy ties at most {max_dense:,} together. Choose "
        "wider bins, or the strategy of single cells.",
        cells=cells,
        max_dense=MAX_DENSE,
    )


class Inverse:
    """(AᵀA)⁺ of a strategy A, from its Gram matrix.

    gram: (n, n) floats, symmetric and positive semidefinite; it is not changed.
    """

    def __init__(self, gram: np.ndarray) -> None:
        # Working with a unit diagonal keeps strategies of uneven weights apart from rounding errors.
        self._root = np.sqrt(np.maximum(np.diag(gram), 0))
        self._root[self._root == 0] = 1.0
        self._gram = gram
        self.rank, self.matrix = self._full() or self._deficient()

    @property
    def complete(self) -> bool:
        """Whether every query can be answered."""
        return self.rank == self._root.size

    def _full(self) -> tuple[int, np.ndarray] | None:
        """By Cholesky; None if the matrix is singular or nearly so."""
        scaled = self._gram / self._root
        scaled /= self._root[:, None]
        try:
            factor = cholesky(scaled, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        if np.diag(factor).min() ** 2 < NEGLIGIBLE * len(factor):
            return None
        inverse, info = lapack.dpotri(factor)
        if info != 0:
            return None
        # Below the diagonal there are zeros.
        full = inverse + inverse.T
        np.fill_diagonal(full, np.diag(inverse))
        full /= self._root
        full /= self._root[:, None]
        return len(full), full

    def _deficient(self) -> tuple[int, np.ndarray]:
        values, vectors = np.linalg.eigh(self._gram)
        significant = values > NEGLIGIBLE * max(values[-1], 0.0)
        vectors = vectors[:, significant]
        return int(significant.sum()), (vectors / values[significant]) @ vectors.T

    @cached_property
    def _projection(self) -> Floats:
        """Onto the row space of the strategy."""
        projection: Floats = self._gram @ self.matrix
        return projection

    def dimensions(self, workload_gram: np.ndarray, needed: int) -> tuple[int, int]:
        """How many dimensions of a workload's row space the strategy's holds, and how many there are: its rank."""
        outside = np.trace(workload_gram) - float((workload_gram * self._projection.T).sum())
        if outside <= 1e-8 * np.trace(workload_gram):
            return needed, needed
        together = _rank(self._gram / np.trace(self._gram) + workload_gram / np.trace(workload_gram))
        return self.rank + needed - together, needed


def _rank(gram: np.ndarray) -> int:
    values = np.linalg.eigvalsh(gram)
    return int((values > NEGLIGIBLE * values[-1]).sum())
