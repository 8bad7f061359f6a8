"""The strategy over one column: an integer matrix, with its column norms and least squares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy import sparse

from mechanisms.counting import Sensitivity
from mechanisms.matrix.strategy.grid import BITS, on_grid
from mechanisms.matrix.strategy.inverse import MAX_DENSE, Inverse
from mechanisms.matrix.workload.factor import Factor, Identity, Total
from mechanisms.protocol import PlanError

# Work up to which the distances of all pairs of columns are computed, in multiplications.
_PAIRS = 2**26
# Cells up to which all pairs of cells are looked at.
_GRAM_CELLS = 2048


class Rows(ABC):
    """A strategy A over the n cells of one column: (p, n) integers.

    Every function of an array works along its first axis and keeps the others.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """n, the number of cells."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """p, the number of measured sums."""

    @property
    @abstractmethod
    def column_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """L1 norms and squared L2 norms of the columns, (n,) int64 each."""

    @property
    @abstractmethod
    def replaced(self) -> Sensitivity:
        """The largest distance between two columns, or a bound on it."""

    @property
    @abstractmethod
    def positive(self) -> bool:
        """Whether no two columns have a negative product."""

    @abstractmethod
    def matrix(self) -> np.ndarray | sparse.csr_array:
        """A itself."""

    @abstractmethod
    def times(self, x: np.ndarray) -> np.ndarray:
        """A x, exactly for int64."""

    @abstractmethod
    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        """Aᵀ y."""

    @abstractmethod
    def gram(self) -> np.ndarray:
        """AᵀA, (n, n) floats."""

    @abstractmethod
    def gram_times(self, x: np.ndarray) -> np.ndarray:
        """AᵀA x."""

    @abstractmethod
    def solve(self, x: np.ndarray) -> np.ndarray:
        """(AᵀA)⁺ x."""

    @abstractmethod
    def trace(self, factor: Factor) -> float:
        """tr W (AᵀA)⁺ Wᵀ: the total variance of the answers W for noise of variance 1."""

    @abstractmethod
    def variances(self, factor: Factor) -> np.ndarray:
        """The diagonal of W (AᵀA)⁺ Wᵀ, (q,)."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether every query can be answered."""

    @abstractmethod
    def dimensions(self, factor: Factor) -> tuple[int, int]:
        """How many dimensions of the workload's row space A's holds, and how many there are."""

    @property
    def column(self) -> Sensitivity:
        """The largest column norms: how far a row that enters or leaves moves the answers."""
        l1, l2_squared = self.column_sums
        return Sensitivity(int(l1.max()), int(l2_squared.max()))


class _Queries(Rows):
    """Ranges of cells as the strategy: 0-1 queries that are not written down."""

    def __init__(self, factor: Factor) -> None:
        self._factor = factor

    @property
    def size(self) -> int:
        return self._factor.size

    @property
    def rows(self) -> int:
        return self._factor.queries

    @cached_property
    def column_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """How many ranges hold each cell: of zeros and ones, both norms are their number."""
        number = self._factor.transposed_times(np.ones(self.rows, dtype=np.int64))
        return number, number

    @property
    def positive(self) -> bool:
        return True

    def times(self, x: np.ndarray) -> np.ndarray:
        return self._factor.times(x)

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return self._factor.transposed_times(y)

    def gram(self) -> np.ndarray:
        return self._factor.gram()

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        return self._factor.gram_times(x)


class IdentityRows(_Queries):
    """Every cell by itself."""

    def __init__(self, cells: int) -> None:
        super().__init__(Identity(cells))

    @property
    def replaced(self) -> Sensitivity:
        return Sensitivity(2, 2)

    def matrix(self) -> sparse.csr_array:
        return sparse.eye_array(self.size, dtype=np.int64, format="csr")

    def solve(self, x: np.ndarray) -> np.ndarray:
        return x

    def trace(self, factor: Factor) -> float:
        return factor.squares()

    def variances(self, factor: Factor) -> np.ndarray:
        return factor.row_squares()

    @property
    def complete(self) -> bool:
        return True

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        return factor.rank, factor.rank


class TotalRows(_Queries):
    """All cells together: (AᵀA)⁺ is a matrix of 1/n²."""

    def __init__(self, cells: int) -> None:
        super().__init__(Total(cells))

    @property
    def replaced(self) -> Sensitivity:
        """The total does not change when a row changes its cell; as if it entered, so that noise is drawn."""
        return Sensitivity(1, 1)

    def matrix(self) -> np.ndarray:
        return np.ones((1, self.size), dtype=np.int64)

    def solve(self, x: np.ndarray) -> np.ndarray:
        return self.gram_times(x) / self.size**2

    def trace(self, factor: Factor) -> float:
        return float(self.variances(factor).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        return np.asarray(factor.times(np.ones(self.size)) / self.size) ** 2

    @property
    def complete(self) -> bool:
        return self.size == 1

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        if factor.queries == 1:
            row = factor.transposed_times(np.ones(1))
            return int(np.ptp(row) == 0), 1
        return Inverse(self.gram()).dimensions(factor.gram())


class _Inverted(Rows):
    """Least squares by the inverse of the Gram matrix, written out."""

    @cached_property
    def inverse(self) -> Inverse:
        if self.size > MAX_DENSE:
            raise PlanError(
                f"A column has {self.size:,} cells, and this strategy ties at most {MAX_DENSE:,} together. "
                "Choose wider bins, or the strategy of single cells."
            )
        return Inverse(self.gram())

    def solve(self, x: np.ndarray) -> np.ndarray:
        return _product(self.inverse.matrix, x)

    def trace(self, factor: Factor) -> float:
        return float((factor.gram() * self.inverse.matrix).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        variances: np.ndarray = np.maximum(factor.variances(self.inverse.matrix), 0.0)
        return variances

    @property
    def complete(self) -> bool:
        return self.inverse.complete

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        if self.complete:
            return factor.rank, factor.rank
        return self.inverse.dimensions(factor.gram())


class MatrixRows(_Inverted):
    """A matrix that is held, dense or sparse.

    matrix: (p, n) int64, no column norm beyond 2^40. It is not changed.
    """

    def __init__(self, matrix: np.ndarray | sparse.csr_array) -> None:
        if matrix.ndim != 2 or matrix.dtype != np.int64:
            raise ValueError(f"a strategy is a matrix of int64, got {matrix.ndim} axes of {matrix.dtype}")
        self._matrix = matrix

    @classmethod
    def of(cls, weights: np.ndarray, bits: int = BITS) -> MatrixRows:
        """From (p, n) real weights, put on a grid of so many bits (`grid.on_grid`)."""
        return cls(on_grid(np.asarray(weights, dtype=np.float64), bits))

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
        """Exact for matrices of moderate size; else by the triangle inequality and, for L2, the sign of products."""
        column = self.column
        if self.size > 1 and self.rows * self.size**2 <= _PAIRS:
            return self._farthest_pair()
        return Sensitivity(2 * column.l1, (2 if self.positive else 4) * column.l2_squared)

    def _farthest_pair(self) -> Sensitivity:
        dense = self._dense()
        l1 = l2_squared = 0
        for j in range(self.size - 1):
            gaps = np.abs(dense[:, j + 1 :] - dense[:, j : j + 1])
            l1 = max(l1, int(gaps.sum(axis=0).max()))
            l2_squared = max(l2_squared, int((gaps**2).sum(axis=0).max()))
        # Equal columns cannot be told apart; the norms stand in, so that noise is drawn nonetheless.
        return Sensitivity(l1 or self.column.l1, l2_squared or self.column.l2_squared)

    @cached_property
    def positive(self) -> bool:
        return bool(self._matrix.min() >= 0)

    def matrix(self) -> np.ndarray | sparse.csr_array:
        return self._matrix

    def _dense(self) -> np.ndarray:
        return self._matrix if isinstance(self._matrix, np.ndarray) else self._matrix.toarray()

    def times(self, x: np.ndarray) -> np.ndarray:
        return _product(self._matrix, x)

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return _product(self._floats.T, y.astype(np.float64))

    @cached_property
    def _floats(self) -> np.ndarray | sparse.csr_array:
        return self._matrix.astype(np.float64)

    def gram(self) -> np.ndarray:
        gram = self._floats.T @ self._floats
        return np.asarray(gram.toarray() if sparse.issparse(gram) else gram)

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        return self.transposed_times(_product(self._floats, x))


class RangeRows(_Queries, _Inverted):
    """Any ranges of cells."""

    def __init__(self, factor: Factor) -> None:
        if factor.spans() is None:
            raise ValueError("only ranges of cells can be measured without their matrix")
        super().__init__(factor)

    @cached_property
    def replaced(self) -> Sensitivity:
        """How many ranges hold just one of two cells; exact up to 2,048 cells."""
        if self.size > _GRAM_CELLS or self.size == 1:
            return Sensitivity(2 * self.column.l1, 2 * self.column.l2_squared)
        gram = self._factor.gram()
        own = np.diag(gram)
        apart = int((own[:, None] + own - 2 * gram).max()) or self.column.l1
        return Sensitivity(apart, apart)

    def matrix(self) -> sparse.csr_array:
        spans = self._factor.spans()
        assert spans is not None
        start, stop = spans.T
        ends = np.concatenate([[0], np.cumsum(stop - start)])
        cells = np.arange(ends[-1]) - np.repeat(ends[:-1] - start, stop - start)
        return sparse.csr_array(
            (np.ones(cells.size, dtype=np.int64), cells, ends), shape=(self.rows, self.size)
        )


def _product(matrix: np.ndarray | sparse.csr_array, x: np.ndarray) -> np.ndarray:
    flat = np.asarray(matrix @ x.reshape(x.shape[0], -1))
    return flat.reshape(matrix.shape[0], *x.shape[1:])
