"""Structural zeros: pairs of cells that cannot occur in one row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.arrays import Flags, Integers
from mechanisms.microdata.tables import Grouping, Pair


@dataclass(frozen=True)
class Impossible:
    """By pair of columns (a < b) the pairs of cells that no row holds."""

    cells: Mapping[Pair, tuple[tuple[int, int], ...]]

    @cached_property
    def by_column(self) -> Mapping[int, tuple[tuple[int, int, int], ...]]:
        """For each column the (own cell, other column, other's cell) that exclude each other."""
        result: dict[int, list[tuple[int, int, int]]] = {}
        for (a, b), pairs in self.cells.items():
            for x, y in pairs:
                result.setdefault(a, []).append((x, b, y))
                result.setdefault(b, []).append((y, a, x))
        return {column: tuple(pairs) for column, pairs in result.items()}

    @cached_property
    def _clashes(self) -> Mapping[Pair, Flags]:
        """The pairs of cells as tables, as large as the last cell named needs."""
        result: dict[Pair, Flags] = {}
        for pair, cells in self.cells.items():
            first, second = np.array(cells).T
            result[pair] = np.zeros((first.max() + 1, second.max() + 1), dtype=bool)
            result[pair][first, second] = True
        return result

    def among_groups(self, grouping: Grouping) -> Grouping:
        """The grouping, with those pairs of groups in which nobody can be: none of their pairs of cells can occur."""
        nobody: dict[Pair, Flags] = {}
        for (a, b), pairs in self.cells.items():
            left = np.outer(np.bincount(grouping.groups[a]), np.bincount(grouping.groups[b]))
            first, second = np.array(pairs).T
            np.subtract.at(left, (grouping.groups[a][first], grouping.groups[b][second]), 1)
            if (left == 0).any():
                nobody[(a, b)] = left == 0
        return replace(grouping, nobody=nobody)

    def broken(self, rows: np.ndarray) -> Flags:
        """Which of (n, d) rows hold a pair that cannot occur, (n,) bool."""
        return self.faults(rows) > 0

    def faults(self, rows: np.ndarray) -> Integers:
        """How many pairs that cannot occur each of (n, d) rows holds, (n,) int64."""
        faults = np.zeros(rows.shape[0], dtype=np.int64)
        for (a, b), clashes in self._clashes.items():
            own, other = rows[:, a], rows[:, b]
            inside = (own < clashes.shape[0]) & (other < clashes.shape[1])
            faults[inside] += clashes[own[inside], other[inside]]
        return faults

    def among(self, columns: Collection[int]) -> Impossible:
        """Those pairs of which both columns are among some."""
        return Impossible({pair: cells for pair, cells in self.cells.items() if set(pair) <= set(columns)})
