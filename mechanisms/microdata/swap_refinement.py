"""Rows brought nearer to wanted tables by exchanging values of one column between rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.cell_rows import CellRows, from_columns

# Cells of rows, numbered through all columns.
RowPlaces = npt.NDArray[np.int32]
# Pairs of rows that are looked at in a round.
MOST_PAIRS = 1 << 16
# Rounds of each column in which rows are paired at random; then so many that fit least are offered so many partners.
# Random pairs move far more rows: of many columns, which have few rounds each, there are no others.
AT_RANDOM = 8
MISFITS, PARTNERS = 256, 2_048
# A cell's square counts by one over its wanted rows and these. Were all alike, exchanges would move what is common, and
# leave rows where next to nobody was measured.
RARE = 10


@dataclass(frozen=True)
class _RefinedColumn:
    """A column of the rows, and where its cells lie among those of all columns."""

    number: int
    cells: slice


def settle(
    rows: CellRows, sizes: Sequence[int], target: Floats, rounds: int, random: np.random.Generator
) -> CellRows:
    """Exchange values until the tables of all pairs of columns are near the wanted ones; single columns stay.

    rows: (n, d) cells below the columns' sizes, whose sum S is below 2^31. target: (S, S) shares. rounds: each of one
    column, in turn. Returns (n, d).
    An exchange helps if the weighted sum of squared distances of the tables falls, other exchanges aside.
    """
    settling, ends = _Settling(rows, sizes, target), np.cumsum(sizes).tolist()
    columns = [_RefinedColumn(j, slice(ends[j] - size, ends[j])) for j, size in enumerate(sizes)]
    for round_ in range(rounds):
        settling.round(columns[round_ % len(columns)], random, at_random=round_ < AT_RANDOM * len(columns))
    return settling.rows()


class _Settling:
    """Rows while they are settled, by how many each pair of cells exceeds what is wanted, and how much that counts."""

    def __init__(self, rows: CellRows, sizes: Sequence[int], target: Floats) -> None:
        self._sizes = sizes
        self._offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._places = np.add(rows, self._offsets, dtype=np.int32)
        counts = len(rows) * target.astype(np.float64)
        self._surplus = _tables(rows, sizes, self._offsets) - counts
        self._weights = np.divide(RARE, np.add(counts, RARE, out=counts), out=counts)

    def rows(self) -> CellRows:
        columns = (column - offset for column, offset in zip(self._places.T, self._offsets, strict=True))
        return from_columns(columns, len(self._places), self._sizes)

    def round(self, column: _RefinedColumn, random: np.random.Generator, at_random: bool) -> None:
        """Of the exchanges that help as many are made as help together."""
        pull = self._weights[column.cells] * self._surplus[column.cells]
        one, other = self._paired(random) if at_random else self._matched(column, pull, random)
        values = self._places[:, column.number]
        differ = values[one] != values[other]
        one, other = one[differ], other[differ]
        gain, alone = self._gains(pull, one, other, column)
        helps = gain > alone / 2
        if not helps.any():
            return
        one, other = one[helps], other[helps]
        together = float((self._weights[column.cells] * np.square(self._moves(one, other, column))).sum())
        share = _best_share(gain[helps].sum(), alone[helps].sum(), together)
        accepted = random.random(one.size) < share
        one, other = one[accepted], other[accepted]
        moves = self._moves(one, other, column)
        self._surplus[column.cells] += moves
        self._surplus[:, column.cells] += moves.T
        values[one], values[other] = values[other], values[one]

    def _paired(self, random: np.random.Generator) -> tuple[Integers, Integers]:
        """Rows in pairs at random."""
        half = min(len(self._places) // 2, MOST_PAIRS)
        chosen = random.permutation(len(self._places))[: 2 * half]
        return chosen[:half], chosen[half:]

    def _matched(
        self, column: _RefinedColumn, pull: Floats, random: np.random.Generator
    ) -> tuple[Integers, Integers]:
        """The rows that raise the distance most, each with the best of many partners; no row twice."""
        sample = random.permutation(len(self._places))[: 2 * MOST_PAIRS]
        few = min(MISFITS, sample.size // 2)
        by_misfit = np.argpartition(-self._misfit(sample, pull, column), few - 1)
        one, other = sample[by_misfit[:few]], random.permutation(sample[by_misfit[few:]])[:PARTNERS]
        own, theirs = (self._places[rows, column.number] - column.cells.start for rows in (one, other))
        net = self._leaving(one, pull, column)[:, theirs] + self._leaving(other, pull, column)[:, own].T
        net[own[:, None] == theirs] = 0
        best = net.argmax(axis=1)
        largest_first = np.argsort(-net[np.arange(few), best], kind="stable")
        # The first of those that would have the same partner.
        partners, first = np.unique(best[largest_first], return_index=True)
        return one[largest_first[first]], other[partners]

    def _misfit(self, rows: Integers, pull: Floats, column: _RefinedColumn) -> Floats:
        """(rows,): the sum of their cells' pull."""
        own, misfit = self._places[rows, column.number] - column.cells.start, np.zeros(rows.size)
        for j in self._others(column):
            misfit += pull[own, self._places[rows, j]]
        return misfit

    def _leaving(self, rows: Integers, pull: Floats, column: _RefinedColumn) -> Floats:
        """(rows, cells): by how much less a row pulls with each cell of the column than now, less half its own move."""
        own = self._places[rows, column.number] - column.cells.start
        of_cells = np.zeros((rows.size, pull.shape[0]), dtype=np.float32)
        weight = np.zeros_like(of_cells)
        by_cell, weights = (
            np.ascontiguousarray(values.T, dtype=np.float32) for values in (pull, self._weights[column.cells])
        )
        for j in self._others(column):
            of_cells += by_cell[self._places[rows, j]]
            weight += weights[self._places[rows, j]]
        now = np.arange(rows.size), own
        less: Floats = of_cells[now][:, None] - of_cells - (weight + weight[now][:, None]) / 2
        return less

    def _gains(
        self, pull: Floats, one: Integers, other: Integers, column: _RefinedColumn
    ) -> tuple[Floats, Floats]:
        """By how much each exchange lowers the sum of pull · move, and its own weighted ‖move‖².

        pull: (cells, S) of the column's cells: what each exceeds by, times how much it counts.
        """
        x, y = (self._places[rows, column.number] - column.cells.start for rows in (one, other))
        gain, alone = np.zeros(one.size), np.zeros(one.size)
        own = self._weights[column.cells]
        for j in self._others(column):
            a, b = self._places[one, j], self._places[other, j]
            gain += pull[x, a] - pull[y, a] + pull[y, b] - pull[x, b]
            alone += (own[x, a] + own[y, a] + own[y, b] + own[x, b]) * (a != b)
        return gain, alone

    def _moves(self, one: Integers, other: Integers, column: _RefinedColumn) -> Floats:
        """What exchanges together do to the counts of the column's cells with all others, (cells, S)."""
        width, size = column.cells.stop - column.cells.start, self._surplus.shape[0]
        x, y = (
            (self._places[rows, column.number].astype(np.int64) - column.cells.start) * size
            for rows in (one, other)
        )
        moves = np.zeros(width * size)
        for j in self._others(column):
            for rows, old, new in ((one, x, y), (other, y, x)):
                moves += np.bincount(new + self._places[rows, j], minlength=width * size)
                moves -= np.bincount(old + self._places[rows, j], minlength=width * size)
        return moves.reshape(width, size)

    def _others(self, column: _RefinedColumn) -> list[int]:
        return [j for j in range(self._places.shape[1]) if j != column.number]


def _tables(rows: CellRows, sizes: Sequence[int], offsets: Integers) -> Floats:
    """(S, S) counts of pairs of cells; a column with itself is left empty."""
    counts = np.zeros((sum(sizes), sum(sizes)))
    places = [slice(int(start), int(start) + size) for start, size in zip(offsets, sizes, strict=True)]
    for a in range(len(sizes)):
        own = rows[:, a].astype(np.int64)
        for b in range(a):
            cells = np.bincount(own * sizes[b] + rows[:, b], minlength=sizes[a] * sizes[b])
            counts[places[a], places[b]] = cells.reshape(sizes[a], sizes[b])
            counts[places[b], places[a]] = counts[places[a], places[b]].T
    return counts


def _best_share(gain: float, alone: float, together: float) -> float:
    """The share of exchanges, picked by lot, after which the squared distance is expected to be least.

    With share p it changes by -2p·gain + p²·together + p(1 - p)·alone; alone: the sum of the ‖move‖² of each; together:
    ‖moves together‖².
    """
    curvature = 2 * (together - alone)
    target = 2 * gain - alone
    return min(1.0, target / curvature) if curvature > 0 else 1.0
