"""The strategy over one column: an integer matrix, with its column norms and least squares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy import sparse

from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.distances import EXACT, Pairs, farthest_of_all
from mechanisms.matrix.strategy.least_squares import ByCells, LeastSquares, check_dense
from mechanisms.matrix.strategy.pseudo_inverse import MAX_DENSE, Inverse
from mechanisms.matrix.workload.factor import Factor, Identity, Total
from mechanisms.sensitivity import Sensitivity

# Cells up to which pairs of columns are told apart in a product.
PAIRED_CELLS = 2048


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
    def pairs(self) -> Pairs:
        """The pairs of columns that can be farthest apart in a product, in L2."""

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

    def trace(self, factor: Factor) -> float:
        """tr W (AᵀA)⁺ Wᵀ: the total variance of the answers W for noise of variance 1."""
        return float(self.variances(factor).sum())

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

    @property
    def pairs(self) -> Pairs:
        return Pairs.alike(1, 0 if self.size > 1 else 1)

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

    @property
    def pairs(self) -> Pairs:
        return Pairs.alike(1, 1)

    def matrix(self) -> np.ndarray:
        return np.ones((1, self.size), dtype=np.int64)

    def solve(self, x: np.ndarray) -> np.ndarray:
        return self.gram_times(x) / self.size**2

    def variances(self, factor: Factor) -> np.ndarray:
        return np.asarray(factor.times(np.ones(self.size)) / self.size) ** 2

    @property
    def complete(self) -> bool:
        return self.size == 1

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        if factor.queries == 1:
            row = factor.transposed_times(np.ones(1))
            return int(np.ptp(row) == 0), 1
        if factor.rank == self.size:
            return 1, factor.rank
        return Inverse(self.gram()).dimensions(factor.gram(), factor.rank)


class Inverted(Rows):
    """Least squares by an inverse that is written out."""

    @cached_property
    def least_squares(self) -> LeastSquares:
        return self._by_cells

    @cached_property
    def _by_cells(self) -> ByCells:
        check_dense(self.size)
        return ByCells(self._gram)

    @cached_property
    def _gram(self) -> Floats:
        """AᵀA once, for its inverse and for distances."""
        return self.gram()

    @property
    def _is_divided(self) -> bool:
        """Whether distances of columns are worked out: exactly, and where the inverse takes as much memory."""
        return self.size <= MAX_DENSE and self.column.l2_squared < EXACT

    @cached_property
    def pairs(self) -> Pairs:
        norm = self.column.l2_squared
        if not self._is_divided:
            return Pairs.alike(norm, self._least_product)
        if self.size > PAIRED_CELLS:
            return Pairs.alike(norm, int(self._gram.min()))
        return Pairs.of(self._gram)

    @property
    @abstractmethod
    def _least_product(self) -> int:
        """A bound from below on the products of two columns, where they are not worked out."""

    def _farthest(self) -> int:
        """The largest squared L2 distance of two columns; exact up to 8,192 cells."""
        if self._is_divided:
            return farthest_of_all(self._gram)
        return 2 * (self.column.l2_squared - self._least_product)

    def solve(self, x: np.ndarray) -> np.ndarray:
        return self.least_squares.solve(x)

    def trace(self, factor: Factor) -> float:
        return self.least_squares.trace(factor)

    def variances(self, factor: Factor) -> np.ndarray:
        return self.least_squares.variances(factor)

    @property
    def complete(self) -> bool:
        return self.least_squares.complete

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        return self.least_squares.dimensions(factor)


class RangeRows(_Queries, Inverted):
    """Any ranges of cells."""

    def __init__(self, factor: Factor) -> None:
        if factor.spans() is None:
            raise ValueError("only ranges of cells can be measured without their matrix")
        super().__init__(factor)

    @cached_property
    def replaced(self) -> Sensitivity:
        """How many ranges hold just one of two cells; see `_farthest`."""
        apart = self._farthest() or self.column.l1
        return Sensitivity(apart, apart)

    @property
    def _least_product(self) -> int:
        return 0

    def matrix(self) -> sparse.csr_array:
        spans = self._factor.spans()
        assert spans is not None
        start, stop = spans.T
        ends = np.concatenate([[0], np.cumsum(stop - start)])
        cells = np.arange(ends[-1]) - np.repeat(ends[:-1] - start, stop - start)
        return sparse.csr_array(
            (np.ones(cells.size, dtype=np.int64), cells, ends), shape=(self.rows, self.size)
        )
