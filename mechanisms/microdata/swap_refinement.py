"""Rows brought nearer to wanted tables by exchanging values of one column between rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.cell_rows import CellRows, from_columns
from mechanisms.microdata.swap_matching import ColumnPull

# Pairs of rows that are looked at in a round.
MOST_PAIRS = 1 << 16
# Rounds of each column in which rows are paired at random; then those that fit least are offered the best of many
# partners. Random pairs move far more rows: of many columns, which have few rounds each, there are no others.
AT_RANDOM = 8
# Times that exchanges with the best partners are weighed anew, and how many are made each time: a quarter of those that
# help still, but not less than so many. Were all made at once, they would take rows where others have gone by then.
PASSES, PART, LEAST = 8, 4, 16
# A cell's square counts by one over its wanted rows and these. Were all alike, exchanges would move what is common, and
# leave rows where next to nobody was measured.
RARE = 10
# In the last rounds, what a cell of a table counts at least, which has so many cells or fewer; of a larger one less, by
# its cells. Otherwise a few large counts, which are known to some rows, would be met to some tens. From the beginning
# it would move far more rows to that end, and triples away from what the classes have.
LAST, KNOWN, SMALL_TABLE = 0.3, 0.1, 100


def settle(
    rows: CellRows, sizes: Sequence[int], target: Floats, rounds: int, random: np.random.Generator
) -> CellRows:
    """Exchange values until the tables of all pairs of columns are near the wanted ones; single columns stay.

    rows: (n, d) cells below the columns' sizes, whose sum S is below 2^31. target: (S, S) shares. rounds: each of one
    column, in turn. Returns (n, d).
    An exchange helps if the weighted sum of squared distances of the tables falls, other exchanges aside.
    """
    settling, first_of_last = _Settling(rows, sizes, target), round(rounds * (1 - LAST))
    for round_ in range(rounds):
        if round_ == first_of_last:
            settling.weigh_small_tables()
        settling.round(round_ % len(sizes), random, at_random=round_ < AT_RANDOM * len(sizes))
    return settling.rows()


class _Settling:
    """Rows while they are settled, by how many each pair of cells exceeds what is wanted, and how much that counts."""

    def __init__(self, rows: CellRows, sizes: Sequence[int], target: Floats) -> None:
        self._sizes = sizes
        self._offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._places = np.ascontiguousarray(np.add(rows, self._offsets, dtype=np.int32).T)
        counts = len(rows) * target.astype(np.float64)
        self._surplus = _tables(rows, sizes, self._offsets) - counts
        self._weights = np.divide(RARE, np.add(counts, RARE, out=counts), out=counts)

    def weigh_small_tables(self) -> None:
        widths = np.repeat(self._sizes, self._sizes)
        for column, size in enumerate(self._sizes):
            own = self._weights[self._cells(column)]
            np.maximum(own, KNOWN * np.minimum(1, SMALL_TABLE / (size * widths)), out=own)

    def rows(self) -> CellRows:
        columns = (column - offset for column, offset in zip(self._places, self._offsets, strict=True))
        return from_columns(columns, self._places.shape[1], self._sizes)

    def round(self, column: int, random: np.random.Generator, at_random: bool) -> None:
        if at_random:
            self._exchange(column, self._paired(column, random), random, part=1)
            return
        pairs = self._pull(column).best_exchanges(random)
        for _ in range(PASSES):
            if not self._exchange(column, pairs, random, part=PART):
                return

    def _exchange(
        self, column: int, pairs: tuple[Integers, Integers], random: np.random.Generator, part: int
    ) -> bool:
        """Of the exchanges that help the best part is made, as many as help together; whether there are any."""
        pull = self._pull(column)
        gain, alone = pull.gains(*pairs)
        worth = gain - alone / 2
        helps = np.flatnonzero(worth > 0)
        if not helps.size:
            return False
        if part > 1:
            helps = helps[np.argsort(-worth[helps], kind="stable")[: max(LEAST, helps.size // part)]]
        one, other = (rows[helps] for rows in pairs)
        moves = pull.moves(one, other)
        together = float((pull.weights * np.square(moves)).sum())
        share = _best_share(gain[helps].sum(), alone[helps].sum(), together)
        if share < 1:
            accepted = random.random(one.size) < share
            one, other = one[accepted], other[accepted]
            moves = pull.moves(one, other)
        cells, values = self._cells(column), self._places[column]
        self._surplus[cells] += moves
        self._surplus[:, cells] += moves.T
        values[one], values[other] = values[other], values[one]
        return True

    def _paired(self, column: int, random: np.random.Generator) -> tuple[Integers, Integers]:
        """Rows with different values, in pairs at random."""
        count = self._places.shape[1]
        half = min(count // 2, MOST_PAIRS)
        chosen = random.permutation(count)[: 2 * half]
        one, other = chosen[:half], chosen[half:]
        differ = self._places[column][one] != self._places[column][other]
        return one[differ], other[differ]

    def _cells(self, column: int) -> slice:
        start = int(self._offsets[column])
        return slice(start, start + self._sizes[column])

    def _pull(self, column: int) -> ColumnPull:
        cells = self._cells(column)
        weights = self._weights[cells]
        return ColumnPull(self._places, column, cells.start, weights * self._surplus[cells], weights)


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
