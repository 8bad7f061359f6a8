"""Counts of all pairs of columns at once, where a matrix product is less work than a pass for each pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Integers

# Rows in a product: so few that float32 counts them exactly.
ROWS = 1 << 13
# Multiplications for a row and pair that take about as long as to count the pair by itself.
PER_PAIR = 100
# Cells of all columns together: the squares of as many are in memory twice.
MOST_CELLS = 4_096


class JointCounts:
    """Of rows, how many have each two cells of whatever columns: a (cells, cells) matrix, cells those of all columns.

    shape: cells of each column. A block of rows is marked by ones in (rows, cells), and multiplied with itself.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self._starts = np.concatenate([[0], np.cumsum(shape)]).tolist()
        self._counts = np.zeros((self._starts[-1], self._starts[-1]), dtype=np.int64)

    @staticmethod
    def is_faster(shape: Sequence[int], pairs: int) -> bool:
        """Whether this is less work than to count so many pairs one by one."""
        cells = sum(shape)
        return cells <= MOST_CELLS and cells**2 <= PER_PAIR * pairs

    def add(self, columns: Sequence[np.ndarray]) -> None:
        """Count more rows: columns, d of (n,) integers of any width."""
        for start in range(0, len(columns[0]), ROWS):
            block = [column[start : start + ROWS] for column in columns]
            rows = np.arange(len(block[0]))
            marks = np.zeros((len(rows), len(self._counts)), dtype=np.float32)
            for column, first in zip(block, self._starts[:-1], strict=True):
                marks[rows, column.astype(np.int64) + first] = 1
            self._counts += (marks.T @ marks).astype(np.int64)

    def table(self, first: int, second: int) -> Integers:
        """(c_first, c_second), a view."""
        starts = self._starts
        result: Integers = self._counts[
            starts[first] : starts[first + 1], starts[second] : starts[second + 1]
        ]
        return result
