"""Least squares over one column: by the inverse of AᵀA, or, of fewer sums than cells, by that of AAᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.pseudo_inverse import Inverse, too_many
from mechanisms.matrix.workload.factor import Factor, product
from mechanisms.protocol import PlanError

# Of the squared length of the queries, what may lie outside of what is measured, as rounding.
_OUTSIDE = 1e-8
# Entries of a temporary array.
_CHUNK = 2**24


class LeastSquares(Protocol):
    """What `rows.Rows` says of a strategy A, as far as it follows from (AᵀA)⁺."""

    @property
    def complete(self) -> bool: ...

    def solve(self, x: np.ndarray) -> np.ndarray: ...

    def trace(self, factor: Factor) -> float: ...

    def variances(self, factor: Factor) -> np.ndarray: ...

    def dimensions(self, factor: Factor) -> tuple[int, int]: ...


class ByCells:
    """(AᵀA)⁺ is written out, cells by cells. gram: AᵀA, (n, n) floats. Raises PlanError if n > MAX_DENSE."""

    def __init__(self, gram: Floats) -> None:
        self._inverse = Inverse(gram)

    @property
    def matrix(self) -> np.ndarray:
        """(AᵀA)⁺."""
        return self._inverse.matrix

    @property
    def complete(self) -> bool:
        return self._inverse.complete

    def solve(self, x: np.ndarray) -> np.ndarray:
        return product(self.matrix, x)

    def trace(self, factor: Factor) -> float:
        return float((factor.gram() * self.matrix).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        variances: np.ndarray = np.maximum(factor.variances(self.matrix), 0.0)
        return variances

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        if self.complete:
            return factor.rank, factor.rank
        return self._inverse.dimensions(factor.gram(), factor.rank)


class BySums:
    """Of p sums of n > p cells: (AᵀA)⁺ is Aᵀ P P A, where P = (AAᵀ)⁺ is (p, p), and nothing is of the size of n².

    matrix: A, (p, n) floats.
    """

    def __init__(self, matrix: np.ndarray | sparse.csr_array) -> None:
        self._a = matrix

    complete = False

    @cached_property
    def _pseudo(self) -> Floats:
        """P."""
        return Inverse(_dense(self._a @ self._a.T)).matrix

    def solve(self, x: np.ndarray) -> np.ndarray:
        sums = product(self._a, x)
        return product(self._a.T, product(self._pseudo, product(self._pseudo, sums)))

    def trace(self, factor: Factor) -> float:
        return float(((self._pseudo @ self._pseudo) * self._cross_gram(factor)).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        result = np.zeros(factor.queries)
        for chunk in self._chunks(factor):
            result += (factor.times(np.asarray(self._a.T @ self._pseudo[:, chunk])) ** 2).sum(axis=1)
        return result

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        needed, squares = factor.rank, factor.squares()
        if squares - float((self._pseudo * self._cross_gram(factor)).sum()) <= _OUTSIDE * squares:
            return needed, needed
        check_dense(self._a.shape[1])
        return Inverse(_dense(self._a.T @ self._a)).dimensions(factor.gram(), needed)

    def _cross_gram(self, factor: Factor) -> np.ndarray:
        """A WᵀW Aᵀ, (p, p)."""
        cross = np.empty((self._a.shape[0], self._a.shape[0]))
        for chunk in self._chunks(factor):
            cross[:, chunk] = self._a @ factor.gram_times(_dense(self._a[chunk]).T)
        return cross

    def _chunks(self, factor: Factor) -> Iterator[slice]:
        """Of the sums: so many at once that neither their cells nor their answers take much memory."""
        step = max(1, _CHUNK // max(factor.queries, factor.size))
        return (slice(first, first + step) for first in range(0, self._a.shape[0], step))


def check_dense(cells: int) -> None:
    """Raises PlanError where a matrix of cells by cells would not fit in memory."""
    if refusal := too_many(cells):
        raise PlanError(refusal)


def _dense(matrix: np.ndarray | sparse.csr_array) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
