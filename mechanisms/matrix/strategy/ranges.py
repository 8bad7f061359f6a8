"""Ranges of cells that are measured as they are asked: some by the closed form of their inverse."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.distances import Pairs
from mechanisms.matrix.strategy.rows import PAIRED_CELLS, RangeRows, Rows
from mechanisms.matrix.workload.factor import Factor
from mechanisms.sensitivity import Sensitivity

# Entries of a temporary array.
_CHUNK = 2**21


class SolvedRows(RangeRows):
    """Ranges that tell every cell, whose (AᵀA)⁻¹ is known: nothing of cells by cells is made."""

    @abstractmethod
    def solve(self, x: np.ndarray) -> np.ndarray:
        """(AᵀA)⁻¹ x, in linear time."""

    @abstractmethod
    def _of_ranges(self, start: np.ndarray, stop: np.ndarray) -> Floats:
        """The variance of the answer to each range start..stop-1 for noise of variance 1."""

    def trace(self, factor: Factor) -> float:
        return float(self.variances(factor).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        spans = factor.spans()
        return by_solving(self, factor) if spans is None else self._of_ranges(*spans.T)

    @property
    def complete(self) -> bool:
        return True

    @property
    @abstractmethod
    def _largest_distance(self) -> int:
        """Of two columns: how many ranges hold just one of two cells."""

    @cached_property
    def replaced(self) -> Sensitivity:
        apart = self._largest_distance or self.column.l1
        return Sensitivity(apart, apart)


class RunningRows(SolvedRows):
    """Running totals: A is a triangle of ones, and its inverse takes differences of neighbours."""

    def solve(self, x: np.ndarray) -> np.ndarray:
        rises = x.astype(np.float64)
        rises[:-1] -= x[1:]
        solved = rises.copy()
        solved[1:] -= rises[:-1]
        return solved

    def _of_ranges(self, start: np.ndarray, stop: np.ndarray) -> Floats:
        """A range is the difference of two totals, the first of which may be 0."""
        return np.where(start == 0, 1.0, 2.0)

    @property
    def _largest_distance(self) -> int:
        return self.size - 1

    @property
    def pairs(self) -> Pairs:
        """Cells i < j are in n - i and n - j totals, and in n - j together: for each j the first cell is farthest."""
        last = np.arange(self.size, 0, -1)
        return Pairs(np.stack([np.full_like(last, self.size), last, last]))


class AllRangeRows(SolvedRows):
    """All ranges of neighbouring cells: AᵀA is n + 1 times the inverse of second differences with both ends fixed."""

    def solve(self, x: np.ndarray) -> np.ndarray:
        solved = 2.0 * x
        solved[:-1] -= x[1:]
        solved[1:] -= x[:-1]
        solved /= self.size + 1
        return solved

    def _of_ranges(self, start: np.ndarray, stop: np.ndarray) -> Floats:
        """2L on the diagonal less 2(L - 1) beside it, of L cells."""
        return np.full(start.shape, 2 / (self.size + 1))

    @property
    def _largest_distance(self) -> int:
        """Cells d apart: d(n + 1 - d) ranges hold just one of them."""
        return (self.size + 1) ** 2 // 4 if self.size > 1 else 0

    @cached_property
    def pairs(self) -> Pairs:
        """Of many cells a bound: the first and the last share one range."""
        return Pairs.of(self.gram()) if self.size <= PAIRED_CELLS else Pairs.alike(self.column.l2_squared, 1)


def by_solving(rows: Rows, factor: Factor) -> Floats:
    """The diagonal of W (AᵀA)⁺ Wᵀ from solutions for its rows, some at a time."""
    out, step = np.empty(factor.queries), max(1, _CHUNK // max(rows.size, factor.queries))
    for first in range(0, factor.queries, step):
        some = np.zeros((factor.queries, min(step, factor.queries - first)))
        some[first : first + step] = np.eye(some.shape[1])
        queries = factor.transposed_times(some)
        out[first : first + step] = (queries * rows.solve(queries)).sum(axis=0)
    return np.maximum(out, 0.0)
