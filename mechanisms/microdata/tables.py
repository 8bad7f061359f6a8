"""The tables of single columns and of all pairs of columns, as one vector of counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from mechanisms.arrays import Flags, Integers
from mechanisms.microdata.joint_counts import JointCounts

Pair = tuple[int, int]


@dataclass(frozen=True)
class PairTables:
    """Where each pair's table lies in the vector that holds the tables of all pairs of columns, in C order.

    shape: cells of each column, at least two columns.
    """

    shape: tuple[int, ...]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All (a, b) with a < b, in the order of the vector."""
        return tuple(combinations(range(len(self.shape)), 2))

    @cached_property
    def _starts(self) -> Mapping[Pair, int]:
        sizes = [self.shape[a] * self.shape[b] for a, b in self.pairs]
        starts = np.concatenate([[0], np.cumsum(sizes[:-1], dtype=np.int64)])
        return dict(zip(self.pairs, starts.tolist(), strict=True))

    @cached_property
    def size(self) -> int:
        """Cells of all tables together."""
        return sum(self.shape[a] * self.shape[b] for a, b in self.pairs)

    @cached_property
    def largest(self) -> int:
        """Cells of the largest table."""
        return max(self.shape[a] * self.shape[b] for a, b in self.pairs)

    def table(self, counts: np.ndarray, pair: Pair) -> np.ndarray:
        """(c_a, c_b), a view of the vector."""
        start, shape = self._starts[pair], (self.shape[pair[0]], self.shape[pair[1]])
        return counts[start : start + shape[0] * shape[1]].reshape(shape)

    def column(self, counts: Integers, column: int) -> Integers:
        """(c,) counts of one column, summed from its first table."""
        pair, axis = ((0, 1), 1) if column == 0 else ((0, column), 0)
        summed: Integers = self.table(counts, pair).sum(axis=axis)
        return summed

    def columns(self, counts: np.ndarray) -> np.ndarray:
        """The tables of single columns, one after the other."""
        return np.concatenate([self.column(counts, j) for j in range(len(self.shape))])

    def among(self, counts: Integers, places: Sequence[int]) -> Integers:
        """The vector of the pairs among some columns, at rising places."""
        return np.concatenate([self.table(counts, pair).ravel() for pair in combinations(places, 2)])

    def of_rows(self, rows: np.ndarray) -> Integers:
        """The vector of a table of cells: rows (n, d) integers to (size,) int64."""
        counts = np.zeros(self.size, dtype=np.int64)
        self.add(counts, list(rows.T))
        return counts

    def add(self, counts: np.ndarray, columns: list[np.ndarray]) -> None:
        """Count more rows: columns, d of (n,) integers of any width, in place."""
        if JointCounts.is_faster(self.shape, len(self.pairs)):
            joint = JointCounts(self.shape)
            joint.add(columns)
            for a, b in self.pairs:
                table = self.table(counts, (a, b))
                table += joint.table(a, b)
            return
        for a, b in self.pairs:
            table = self.table(counts, (a, b))
            first = columns[a].astype(np.int64, copy=False)
            cells = np.bincount(first * self.shape[b] + columns[b], minlength=table.size)
            table += cells.reshape(table.shape)


def split(values: np.ndarray, sizes: Iterable[int]) -> list[np.ndarray]:
    """A vector cut into pieces of the given sizes."""
    return np.split(values, np.cumsum(list(sizes))[:-1])


@dataclass(frozen=True)
class Grouping:
    """Cells of each column put together into coarser ones.

    groups: for each column (c,) int64, the group of each cell; groups are numbered from 0 and none is without cells.
    nobody: for some pairs of columns the (groups, groups) in which nobody can be, as public knowledge has it.
    """

    groups: tuple[Integers, ...]
    nobody: Mapping[Pair, Flags] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Groups of each column."""
        return tuple(int(g.max()) + 1 for g in self.groups)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each column's groups begin in a vector of all columns' groups."""
        return tuple(np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).tolist())

    def place(self, column: int) -> slice:
        """Where a column's groups lie in a vector of all columns' groups."""
        return slice(self.offsets[column], self.offsets[column] + self.sizes[column])

    def vector(self, values: np.ndarray, column: int) -> np.ndarray:
        """Sums over a column's groups, (groups,), of (c,) values."""
        return _merged(values, self.groups[column])

    def table(self, counts: np.ndarray, pair: Pair) -> np.ndarray:
        """Sums over the groups of two columns: disjoint cells again, so a row moves one of them by 1."""
        first = _merged(counts, self.groups[pair[0]])
        return _merged(first.T, self.groups[pair[1]]).T

    def cells(self, pair: Pair) -> int:
        return self.sizes[pair[0]] * self.sizes[pair[1]]


def _merged(values: np.ndarray, groups: Integers) -> np.ndarray:
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    merged: np.ndarray = np.add.reduceat(values[order], starts, axis=0)
    return merged
