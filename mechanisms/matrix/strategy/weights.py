"""The strategy over one column whose weights are held: an integer matrix, and how real weights become one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from mechanisms.accounting import Definition
from mechanisms.matrix.strategy.grid import BITS, exact_on_grid, on_grid, tied
from mechanisms.matrix.strategy.least_squares import BySums, LeastSquares
from mechanisms.matrix.strategy.pseudo_inverse import MAX_DENSE
from mechanisms.matrix.strategy.rows import Inverted
from mechanisms.matrix.workload.factor import product
from mechanisms.sensitivity import Sensitivity

# Work up to which the L1 distances of all pairs of columns are computed, in additions.
_L1_PAIRS = 2**26
# Below this density a matrix is kept sparse.
_SPARSE = 0.2
# Of a dimension's squared weight, the share of rounding errors from which on it is tied.
_ROUNDED = 2.0**-6


def _thin(integers: np.ndarray) -> np.ndarray | sparse.csr_array:
    """Sparse, if few weights are other than 0."""
    return sparse.csr_array(integers) if np.count_nonzero(integers) < _SPARSE * integers.size else integers


class MatrixRows(Inverted):
    """A matrix that is held, dense or sparse.

    matrix: (p, n) int64, no column norm beyond 2^40. It is not changed.
    """

    def __init__(self, matrix: np.ndarray | sparse.csr_array) -> None:
        if matrix.ndim != 2 or matrix.dtype != np.int64:
            raise ValueError(f"a strategy is a matrix of int64, got {matrix.ndim} axes of {matrix.dtype}")
        self._matrix = matrix

    @classmethod
    def of(
        cls,
        weights: np.ndarray,
        bits: int = BITS,
        definition: Definition = Definition.ZCDP,
        lightness: float = 1.0,
    ) -> MatrixRows:
        """From (p, n) real weights, put on a grid of so many bits (`grid.on_grid`).

        Rounding moves the rows, and what they no longer span could not be answered without bias. So a strategy that
        is not kept exactly, and has fewer dimensions than cells, is tied (`grid.tied`, which takes `lightness`).
        Raises PlanError where that takes too many cells.
        """
        weights = np.asarray(weights, dtype=np.float64)
        rows = cls(_thin(on_grid(weights, bits, definition)))
        if exact_on_grid(weights, bits) is not None or not (missing := rows.lost_in_rounding):
            return rows
        return cls(_thin(tied(rows.dense(), missing, definition, lightness)))

    @cached_property
    def lost_in_rounding(self) -> int:
        """Dimensions that the strategy lacks, or has from rounding alone; 0 of one that spans all cells."""
        if self.rows < self.size <= MAX_DENSE:
            return self.size - self.rows
        # The least eigenvalue of AᵀA is at least the inverse's largest row sum; p roundings add up to p/12.
        largest = float(np.abs(self._by_cells.matrix).sum(axis=1).max())
        if self.complete and self.rows / 12 * largest <= _ROUNDED:
            return 0
        values = np.linalg.eigvalsh(self._gram)
        return max(1, int((values < self.rows / 12 / _ROUNDED).sum()))

    @cached_property
    def least_squares(self) -> LeastSquares:
        return BySums(self._floats) if self.rows < self.size else self._by_cells

    @property
    def size(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def rows(self) -> int:
        return int(self._matrix.shape[0])

    @cached_property
    def column_sums(self) -> tuple[np.ndarray, np.ndarray]:
        squares = self._matrix**2 if isinstance(self._matrix, np.ndarray) else self._matrix.power(2)
        l1, l2_squared = np.asarray(abs(self._matrix).sum(axis=0)), np.asarray(squares.sum(axis=0))
        return l1.ravel().astype(np.int64), l2_squared.ravel().astype(np.int64)

    @cached_property
    def replaced(self) -> Sensitivity:
        """L2: see `_farthest`. L1: exact for matrices of moderate size, else by the triangle inequality."""
        moderate = self.rows * self.size**2 <= _L1_PAIRS
        l1 = self._farthest_l1() if moderate else 2 * self.column.l1
        # Equal columns cannot be told apart; the norms stand in, so that noise is drawn nonetheless.
        return Sensitivity(l1 or self.column.l1, self._farthest() or self.column.l2_squared)

    def _farthest_l1(self) -> int:
        dense = self.dense()
        pairs = (dense[:, j + 1 :] - dense[:, j : j + 1] for j in range(self.size - 1))
        return max((int(np.abs(gaps).sum(axis=0).max()) for gaps in pairs), default=0)

    @property
    def _least_product(self) -> int:
        """By Cauchy and Schwarz, unless no weight is negative."""
        return 0 if self._matrix.min() >= 0 else -self.column.l2_squared

    def matrix(self) -> np.ndarray | sparse.csr_array:
        return self._matrix

    def dense(self) -> np.ndarray:
        """A itself, zeros and all."""
        return self._matrix if isinstance(self._matrix, np.ndarray) else self._matrix.toarray()

    def times(self, x: np.ndarray) -> np.ndarray:
        return product(self._matrix, x)

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return product(self._floats.T, y.astype(np.float64))

    @cached_property
    def _floats(self) -> np.ndarray | sparse.csr_array:
        return self._matrix.astype(np.float64)

    def gram(self) -> np.ndarray:
        gram = self._floats.T @ self._floats
        return np.asarray(gram.toarray() if sparse.issparse(gram) else gram)

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        return self.transposed_times(product(self._floats, x))
