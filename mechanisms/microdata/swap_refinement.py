"""Rows brought nearer to the tables of a model by exchanging values of one column between rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.cell_rows import CellRows, from_columns

# Cells of rows, numbered through all columns.
Places = npt.NDArray[np.int32]
# Pairs of rows that are looked at in a round.
MOST_PAIRS = 1 << 16


def settle(
    rows: CellRows, sizes: Sequence[int], target: Floats, rounds: int, random: np.random.Generator
) -> CellRows:
    """Exchange values until the tables of all pairs of columns are near the wanted ones; single columns stay.

    rows: (n, d) cells below the columns' sizes, whose sum S is below 2^31. target: (S, S) shares. rounds: each of one
    column, in turn. Returns (n, d).
    An exchange helps if the sum of squared distances of the tables falls, other exchanges aside.
    """
    n, d = rows.shape
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.add(rows, offsets, dtype=np.int32)
    surplus = _tables(rows, sizes, offsets) - n * target.astype(np.float64)
    for round_ in range(rounds):
        column = round_ % d
        cells = slice(int(offsets[column]), int(offsets[column]) + sizes[column])
        _exchange(places, surplus, column, cells, random)
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
    places: Places, surplus: Floats, column: int, cells: slice, random: np.random.Generator
) -> None:
    """One round: rows are paired at random, and of the exchanges that help as many are made as help together."""
    n = places.shape[0]
    half = min(n // 2, MOST_PAIRS)
    chosen = random.permutation(n)[: 2 * half]
    one, other = chosen[:half], chosen[half:]
    differ = places[one, column] != places[other, column]
    one, other = one[differ], other[differ]
    gain, changed = _gains(places, surplus, one, other, column)
    helps = gain > 2.0 * changed
    if not helps.any():
        return
    one, other = one[helps], other[helps]
    together = _moves(places, one, other, column, cells, surplus.shape[0])
    accepted = random.random(one.size) < _best_share(gain[helps].sum(), 4.0 * changed[helps].sum(), together)
    one, other = one[accepted], other[accepted]
    moves = _moves(places, one, other, column, cells, surplus.shape[0])
    surplus[cells] += moves
    surplus[:, cells] += moves.T
    places[one, column], places[other, column] = places[other, column], places[one, column]


def _gains(
    places: Places, surplus: Floats, one: Integers, other: Integers, column: int
) -> tuple[Floats, Integers]:
    """By how much each exchange lowers the sum of surplus · move, and in how many tables it moves anything."""
    x, y = places[one, column], places[other, column]
    gain, changed = np.zeros(one.size), np.zeros(one.size, dtype=np.int64)
    for j in range(places.shape[1]):
        if j != column:
            a, b = places[one, j], places[other, j]
            gain += surplus[x, a] - surplus[y, a] + surplus[y, b] - surplus[x, b]
            changed += a != b
    return gain, changed


def _moves(places: Places, one: Integers, other: Integers, column: int, cells: slice, size: int) -> Floats:
    """What exchanges together do to the counts of the column's cells with all others, (cells, S)."""
    width = cells.stop - cells.start
    x, y = ((places[rows, column].astype(np.int64) - cells.start) * size for rows in (one, other))
    moves = np.zeros(width * size)
    for j in range(places.shape[1]):
        if j != column:
            for rows, old, new in ((one, x, y), (other, y, x)):
                moves += np.bincount(new + places[rows, j], minlength=width * size)
                moves -= np.bincount(old + places[rows, j], minlength=width * size)
    return moves.reshape(width, size)


def _best_share(gain: float, alone: float, together: Floats) -> float:
    """The share of exchanges, picked by lot, after which the squared distance is expected to be least.

    With share p it changes by -2p·gain + p²·‖moves together‖² + p(1 - p)·alone; alone: the sum of the ‖move‖² of each.
    """
    curvature = 2 * (float((together**2).sum()) - alone)
    target = 2 * gain - alone
    return min(1.0, target / curvature) if curvature > 0 else 1.0
