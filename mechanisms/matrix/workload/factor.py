"""Queries over the cells of one column: matrices that are never written down where their structure is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Date, Integer

# Entries of a temporary array.
_CHUNK = 2**22
# Eigenvalues of a Gram matrix below this share of the largest are rounding errors.
NEGLIGIBLE = 1e-11
# Entries of an uploaded matrix, other than 0, lie between 1/this and this, so that squares and products stay floats.
MAX_ENTRY = 10**9


class Factor(ABC):
    """A (queries, size) matrix W over the n cells of one column.

    Arrays keep their further axes: (n, k) to (q, k), (n,) to (q,). Integers stay integers where W holds integers.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """n, the number of cells."""

    @property
    @abstractmethod
    def queries(self) -> int:
        """q, the number of rows."""

    @abstractmethod
    def times(self, x: np.ndarray) -> np.ndarray:
        """W x, along the first axis."""

    @abstractmethod
    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        """Wᵀ y, along the first axis."""

    @abstractmethod
    def variances(self, covariance: np.ndarray) -> np.ndarray:
        """The diagonal of W C Wᵀ for each C of (n, n, k), as (q, k); for (n, n), (q,)."""

    @abstractmethod
    def row_squares(self) -> Integers:
        """The squared length of every row, (q,)."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The dimension of what is asked."""

    def squares(self) -> float:
        """The sum of all squared entries."""
        return float(self.row_squares().sum())

    @abstractmethod
    def phrases(self, attribute: Attribute) -> Iterator[str]:
        """Each query in words about the attribute; empty for the query over all of its cells."""

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        """WᵀW x, along the first axis."""
        return self.transposed_times(self.times(x))

    def gram(self) -> np.ndarray:
        """WᵀW, (n, n) floats."""
        return self.gram_times(np.eye(self.size))

    def spans(self) -> np.ndarray | None:
        """(q, 2) integers, first cell and the one after the last, where every query is a range; else None."""
        return None


@dataclass(frozen=True)
class _Ranges(Factor):
    """Queries that are ranges of neighbouring cells; a subclass lists them by `spans`."""

    cells: int

    @property
    def size(self) -> int:
        return self.cells

    @abstractmethod
    def spans(self) -> np.ndarray: ...

    def times(self, x: np.ndarray) -> np.ndarray:
        before, (start, stop) = _running_sums(x), self.spans().T
        sums: np.ndarray = before[stop] - before[start]
        return sums

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        steps = np.zeros((self.size + 1, *y.shape[1:]), dtype=y.dtype)
        start, stop = self.spans().T
        np.add.at(steps, start, y)
        np.subtract.at(steps, stop, y)
        return np.cumsum(steps[:-1], axis=0)

    def variances(self, covariance: np.ndarray) -> np.ndarray:
        # The sum over a square block of C from its two-dimensional running sums.
        sums = np.swapaxes(_running_sums(np.swapaxes(_running_sums(covariance), 0, 1)), 0, 1)
        start, stop = self.spans().T
        blocks: np.ndarray = sums[stop, stop] - sums[start, stop] - sums[stop, start] + sums[start, start]
        return blocks

    def row_squares(self) -> Integers:
        start, stop = self.spans().T
        lengths: Integers = stop - start
        return lengths

    @property
    def rank(self) -> int:
        return min(self.queries, self.size)

    def phrases(self, attribute: Attribute) -> Iterator[str]:
        labels = attribute.labels()
        for start, stop in self.spans().tolist():
            yield _range_in_words(attribute, labels, start, stop)


@dataclass(frozen=True)
class Identity(_Ranges):
    """Every cell."""

    @property
    def queries(self) -> int:
        return self.cells

    def spans(self) -> np.ndarray:
        cells = np.arange(self.cells)
        return np.stack([cells, cells + 1], axis=1)

    def times(self, x: np.ndarray) -> np.ndarray:
        return x

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return y

    def variances(self, covariance: np.ndarray) -> np.ndarray:
        cells = np.arange(self.cells)
        return covariance[cells, cells]

    def phrases(self, attribute: Attribute) -> Iterator[str]:
        # A column of one cell still says which.
        yield from (_named(attribute, label) for label in attribute.labels())


@dataclass(frozen=True)
class Total(_Ranges):
    """All cells together."""

    @property
    def queries(self) -> int:
        return 1

    def spans(self) -> np.ndarray:
        return np.array([[0, self.cells]])

    def times(self, x: np.ndarray) -> np.ndarray:
        total: np.ndarray = x.sum(axis=0, keepdims=True)
        return total

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return np.repeat(y, self.cells, axis=0)


@dataclass(frozen=True)
class Prefix(_Ranges):
    """Running totals: the first i cells, for i = 1..n."""

    @property
    def queries(self) -> int:
        return self.cells

    def spans(self) -> np.ndarray:
        stop = np.arange(1, self.cells + 1)
        return np.stack([np.zeros_like(stop), stop], axis=1)

    def times(self, x: np.ndarray) -> np.ndarray:
        return np.cumsum(x, axis=0)

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return np.cumsum(y[::-1], axis=0)[::-1]


@dataclass(frozen=True)
class AllRange(_Ranges):
    """All n(n+1)/2 ranges of neighbouring cells, by their first cell, then by their last."""

    @property
    def queries(self) -> int:
        return self.cells * (self.cells + 1) // 2

    def spans(self) -> np.ndarray:
        start, last = np.triu_indices(self.cells)
        return np.stack([start, last + 1], axis=1)

    def squares(self) -> float:
        return self.cells * (self.cells + 1) * (self.cells + 2) / 6

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        """In linear time: cells i and j share (min + 1)(n - max) ranges."""
        up = np.arange(1, self.cells + 1, dtype=x.dtype).reshape(-1, *[1] * (x.ndim - 1))
        down = up[::-1]
        left = np.cumsum(up * x, axis=0)
        right = np.cumsum((down * x)[::-1], axis=0)[::-1] - down * x
        product: np.ndarray = down * left + up * right
        return product


@dataclass(frozen=True)
class Width(_Ranges):
    """The n - w + 1 ranges of w neighbouring cells."""

    width: int

    def __post_init__(self) -> None:
        if not 1 <= self.width <= self.cells:
            raise ValueError(f"a range of {self.width} cells does not fit a column of {self.cells}")

    @property
    def queries(self) -> int:
        return self.cells - self.width + 1

    def spans(self) -> np.ndarray:
        start = np.arange(self.queries)
        return np.stack([start, start + self.width], axis=1)


@dataclass(frozen=True, eq=False)
class Explicit(Factor):
    """A matrix that is given, row by row.

    matrix: (q, n), an array or a scipy sparse matrix. names: of the queries, or empty.
    """

    matrix: np.ndarray | sparse.csr_array
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.names and len(self.names) != self.queries:
            raise ValueError(f"there are {len(self.names)} names for {self.queries} queries")

    @property
    def size(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def queries(self) -> int:
        return int(self.matrix.shape[0])

    def times(self, x: np.ndarray) -> np.ndarray:
        return product(self.matrix, x)

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        return product(self.matrix.T, y)

    def gram(self) -> np.ndarray:
        gram = self.matrix.T @ self.matrix
        return np.asarray(gram.toarray() if sparse.issparse(gram) else gram, dtype=np.float64)

    @cached_property
    def rank(self) -> int:
        values = np.linalg.eigvalsh(self.smaller_gram())
        return int((values > NEGLIGIBLE * values[-1]).sum())

    def row_squares(self) -> Integers:
        squares = self.matrix**2 if isinstance(self.matrix, np.ndarray) else self.matrix.power(2)
        return np.asarray(squares.sum(axis=1)).ravel()

    def smaller_gram(self) -> np.ndarray:
        """WᵀW or WWᵀ, whichever is smaller: both have the same eigenvalues but for zeros."""
        if self.queries >= self.size:
            return self.gram()
        gram = self.matrix @ self.matrix.T
        return np.asarray(gram.toarray() if sparse.issparse(gram) else gram, dtype=np.float64)

    def variances(self, covariance: np.ndarray) -> np.ndarray:
        flat = covariance.reshape(self.size, self.size, -1)
        out = np.empty((self.queries, flat.shape[2]))
        step = max(1, _CHUNK // self.size)
        for first in range(0, self.queries, step):
            rows = self.matrix[first : first + step]
            dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
            for k in range(flat.shape[2]):
                out[first : first + step, k] = ((rows @ flat[:, :, k]) * dense).sum(axis=1)
        return out.reshape(self.queries, *covariance.shape[2:])

    def phrases(self, attribute: Attribute) -> Iterator[str]:
        numbered = (f"query {i:,} of {attribute.name}" for i in range(1, self.queries + 1))
        yield from self.names or numbered


def product(matrix: np.ndarray | sparse.csr_array, x: np.ndarray) -> np.ndarray:
    """A x along the first axis; the others are kept."""
    flat = np.asarray(matrix @ x.reshape(x.shape[0], -1))
    return flat.reshape(matrix.shape[0], *x.shape[1:])


def within_range(matrix: np.ndarray | sparse.csr_array) -> bool:
    """Whether all entries but zeros have sizes between 1/`MAX_ENTRY` and `MAX_ENTRY`."""
    sizes = np.abs(matrix.data if sparse.issparse(matrix) else np.asarray(matrix))
    return bool(((sizes == 0) | ((sizes >= 1 / MAX_ENTRY) & (sizes <= MAX_ENTRY))).all())


def _running_sums(x: np.ndarray) -> np.ndarray:
    """Running sums with a zero in front, along the first axis: (n, ...) to (n + 1, ...)."""
    out = np.zeros((x.shape[0] + 1, *x.shape[1:]), dtype=np.result_type(x, np.int64))
    np.cumsum(x, axis=0, out=out[1:])
    return out


def _named(attribute: Attribute, value: str) -> str:
    return f"{attribute.name} {value}" if attribute.ordered else f"{attribute.name} = {value}"


def _range_in_words(attribute: Attribute, labels: list[str], start: int, stop: int) -> str:
    """Cells start..stop-1 by their values, like "age 20–39"; empty for all cells."""
    if (start, stop) == (0, len(labels)):
        return ""
    if stop - start == 1:
        return _named(attribute, labels[start])
    if isinstance(attribute, Integer) and stop <= attribute.regular_size:
        return f"{attribute.name} {attribute.bounds(start)[0]}–{attribute.bounds(stop - 1)[1]}"
    if attribute.kind == "real" and stop <= attribute.regular_size:
        lower, upper = labels[start].partition(" to ")[0], labels[stop - 1].rpartition(" to ")[2]
        return f"{attribute.name} {lower} to {upper}"
    joint = " to " if attribute.ordered or isinstance(attribute, Date) else " through "
    return f"{attribute.name} {labels[start]}{joint}{labels[stop - 1]}"
