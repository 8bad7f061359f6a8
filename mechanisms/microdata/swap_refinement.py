"""Rows brought nearer to the tables of a model by exchanging values of one column between rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.cell_rows import CellRows, from_columns

# Cells of rows, numbered through all columns.
Places = npt.NDArray[np.int32]
# Pairs of rows that are looked at in a round.
MOST_PAIRS = 1 << 16
# A cell's square counts by one over its wanted rows and these. Were all alike, exchanges would move what is common, and
# leave rows where next to nobody was measured.
RARE = 10


@dataclass(frozen=True)
class _Column:
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
    n, d = rows.shape
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.add(rows, offsets, dtype=np.int32)
    counts = n * target.astype(np.float64)
    surplus = _tables(rows, sizes, offsets) - counts
    weights = np.divide(RARE, np.add(counts, RARE, out=counts), out=counts)
    for round_ in range(rounds):
        number = round_ % d
        start = int(offsets[number])
        column = _Column(number, slice(start, start + sizes[number]))
        _exchange(places, surplus, weights, column, random)
    columns = (column - offset for column, offset in zip(places.T, offsets, strict=True))
    return from_columns(columns, n, sizes)


def _tables(rows: CellRows, sizes: Sequence[int], offsets: Integers) -> Floats:
    """(S, S) counts of pairs of groups; a column with itself is left empty."""
    counts = np.zeros((sum(sizes), sum(sizes)))
    places = [slice(int(start), int(start) + size) for start, size in zip(offsets, sizes, strict=True)]
    for a in range(len(sizes)):
        own = rows[:, a].astype(np.int64)
        for b in range(a):
            cells = np.bincount(own * sizes[b] + rows[:, b], minlength=sizes[a] * sizes[b])
            counts[places[a], places[b]] = cells.reshape(sizes[a], sizes[b])
            counts[places[b], places[a]] = counts[places[a], places[b]].T
    return counts


def _exchange(
    places: Places, surplus: Floats, weights: Floats, column: _Column, random: np.random.Generator
) -> None:
    """One round: rows are paired at random, and of the exchanges that help as many are made as help together."""
    n = places.shape[0]
    half = min(n // 2, MOST_PAIRS)
    chosen = random.permutation(n)[: 2 * half]
    one, other = chosen[:half], chosen[half:]
    values, cells = places[:, column.number], column.cells
    differ = values[one] != values[other]
    one, other = one[differ], other[differ]
    own = weights[cells]
    gain, alone = _gains(places, own, own * surplus[cells], one, other, column)
    helps = gain > alone / 2
    if not helps.any():
        return
    one, other = one[helps], other[helps]
    together = _moves(places, one, other, column, surplus.shape[0])
    length = float((own * np.square(together)).sum())
    accepted = random.random(one.size) < _best_share(gain[helps].sum(), alone[helps].sum(), length)
    one, other = one[accepted], other[accepted]
    moves = _moves(places, one, other, column, surplus.shape[0])
    surplus[cells] += moves
    surplus[:, cells] += moves.T
    values[one], values[other] = values[other], values[one]


def _gains(
    places: Places, weights: Floats, pull: Floats, one: Integers, other: Integers, column: _Column
) -> tuple[Floats, Floats]:
    """By how much each exchange lowers the sum of pull · move, and its own weighted ‖move‖².

    weights, pull: (cells, S) of the column's cells: how much each counts, and that times its surplus.
    """
    x, y = (places[rows, column.number] - column.cells.start for rows in (one, other))
    gain, alone = np.zeros(one.size), np.zeros(one.size)
    for j in range(places.shape[1]):
        if j != column.number:
            a, b = places[one, j], places[other, j]
            gain += pull[x, a] - pull[y, a] + pull[y, b] - pull[x, b]
            alone += (weights[x, a] + weights[y, a] + weights[y, b] + weights[x, b]) * (a != b)
    return gain, alone


def _moves(places: Places, one: Integers, other: Integers, column: _Column, size: int) -> Floats:
    """What exchanges together do to the counts of the column's cells with all others, (cells, S)."""
    width = column.cells.stop - column.cells.start
    x, y = (
        (places[rows, column.number].astype(np.int64) - column.cells.start) * size for rows in (one, other)
    )
    moves = np.zeros(width * size)
    for j in range(places.shape[1]):
        if j != column.number:
            for rows, old, new in ((one, x, y), (other, y, x)):
                moves += np.bincount(new + places[rows, j], minlength=width * size)
                moves -= np.bincount(old + places[rows, j], minlength=width * size)
    return moves.reshape(width, size)


def _best_share(gain: float, alone: float, together: float) -> float:
    """The share of exchanges, picked by lot, after which the squared distance is expected to be least.

    With share p it changes by -2p·gain + p²·together + p(1 - p)·alone; alone: the sum of the ‖move‖² of each; together:
    ‖moves together‖².
    """
    curvature = 2 * (together - alone)
    target = 2 * gain - alone
    return min(1.0, target / curvature) if curvature > 0 else 1.0
