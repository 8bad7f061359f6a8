"""Which rows exchange values of a column with most gain: those that fit least, each with one of its best partners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechanisms.arrays import Floats, Integers

# Cells of rows, numbered through all columns, (d, n).
RowPlaces = npt.NDArray[np.int32]
# Rows that are looked at, of these the ones that fit least, and others that these may exchange with.
MOST_LOOKED_AT, MISFITS, PARTNERS = 1 << 17, 512, 2_048


@dataclass(frozen=True)
class ColumnPull:
    """How much each row pulls the tables of one column with all others away from what is wanted.

    places: (d, n). column: which of the d, whose c cells begin at `start`. pull: (c, S) what each cell exceeds by,
    times how much it counts, `weights`, (c, S).
    """

    places: RowPlaces
    column: int
    start: int
    pull: Floats
    weights: Floats

    @property
    def others(self) -> list[int]:
        return [j for j in range(len(self.places)) if j != self.column]

    def own(self, rows: Integers | slice) -> Integers:
        """(rows,) int64: the column's cells, from 0."""
        cells: Integers = self.places[self.column][rows].astype(np.int64) - self.start
        return cells

    def gains(self, one: Integers, other: Integers) -> tuple[Floats, Floats]:
        """By how much each exchange lowers the sum of pull · move, and its own weighted ‖move‖²."""
        size = self.pull.shape[1]
        x, y = self.own(one) * size, self.own(other) * size
        pull, weights = self.pull.ravel(), self.weights.ravel()
        gain, alone = np.zeros(one.size), np.zeros(one.size)
        for j in self.others:
            a, b = self.places[j][one], self.places[j][other]
            xa, ya, xb, yb = x + a, y + a, x + b, y + b
            gain += pull[xa] - pull[ya] + pull[yb] - pull[xb]
            alone += (weights[xa] + weights[ya] + weights[yb] + weights[xb]) * (a != b)
        return gain, alone

    def moves(self, one: Integers, other: Integers) -> Floats:
        """What exchanges together do to the counts of the column's cells with all others, (c, S)."""
        size = self.pull.shape[1]
        x, y = self.own(one) * size, self.own(other) * size
        others = np.array(self.others)[:, None]
        a, b = (self.places[others, rows] for rows in (one, other))
        to, off = (
            np.bincount(np.concatenate([first + a, second + b]).ravel(), minlength=self.pull.size)
            for first, second in ((y, x), (x, y))
        )
        moves: Floats = (to - off).reshape(self.pull.shape).astype(np.float64)
        return moves

    def best_exchanges(self, random: np.random.Generator) -> tuple[Integers, Integers]:
        """The rows that raise the distance most, each with one of the best of many partners; no row twice."""
        count = self.places.shape[1]
        misfits = self._misfits(random, min(MISFITS, count // 4))
        partners = np.setdiff1d(random.integers(0, count, PARTNERS), misfits)
        if not misfits.size:
            return misfits, misfits
        one, other = _matched(
            (self._leaving(misfits), self.own(misfits)), (self._leaving(partners), self.own(partners))
        )
        return misfits[one], partners[other]

    def _misfits(self, random: np.random.Generator, few: int) -> Integers:
        """The rows whose cells' pull has the largest sums, of all, or of every so many from a random one on."""
        step = -(-self.places.shape[1] // MOST_LOOKED_AT)
        first = int(random.integers(step))
        rows = slice(first, None, step)
        own, pull = self.own(rows) * self.pull.shape[1], self.pull.astype(np.float32).ravel()
        misfit = np.zeros(own.size, dtype=np.float32)
        for j in self.others:
            misfit += pull.take(own + self.places[j][rows])
        worst: Integers = first + step * np.argpartition(-misfit, few)[:few]
        return worst

    def _leaving(self, rows: Integers) -> Floats:
        """(rows, c): by how much less a row pulls with each cell of the column than now, less half its own move."""
        now = np.arange(rows.size), self.own(rows)
        of_cells = np.zeros((rows.size, self.pull.shape[0]), dtype=np.float32)
        weight = np.zeros_like(of_cells)
        by_cell, weights = (
            np.ascontiguousarray(values.T, dtype=np.float32) for values in (self.pull, self.weights)
        )
        for j in self.others:
            cells = self.places[j][rows]
            of_cells += by_cell.take(cells, axis=0)
            weight += weights.take(cells, axis=0)
        less: Floats = of_cells[now][:, None] - of_cells - (weight + weight[now][:, None]) / 2
        return less


def _matched(
    misfits: tuple[Floats, Integers], partners: tuple[Floats, Integers]
) -> tuple[Integers, Integers]:
    """Exchanges, by the places of both rows: each misfit has chosen a cell, by the best partner that has it.

    Both: (rows, c) what a row gains by each cell, and (rows,) its own cell. Where several misfits of one cell have
    chosen another, the k-th of them has the k-th partner.
    """
    (gain, own), (others_gain, others_own) = misfits, partners
    taken, is_better = _chosen(gain, own, others_gain, others_own)
    chosen = np.flatnonzero(is_better)
    if not chosen.size:
        return chosen, chosen
    kinds, kind = np.unique(own[chosen] * gain.shape[1] + taken[chosen], return_inverse=True)
    left, entered = np.divmod(kinds, gain.shape[1])
    candidates, candidates_kind = _with_cells(others_own, entered)
    most = np.minimum(np.bincount(kind), np.bincount(candidates_kind))
    first = _best_of_each(kind, gain[chosen, taken[chosen]], most)
    second = _best_of_each(candidates_kind, others_gain[candidates, left[candidates_kind]], most)
    # Who is a partner in several exchanges takes part in the first.
    other, once = np.unique(candidates[second], return_index=True)
    return chosen[first[once]], other


def _chosen(
    gain: Floats, own: Integers, others_gain: Floats, others_own: Integers
) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """(rows,) the cell that each row would best exchange its own for, and whether that is better than to stay."""
    order = np.argsort(others_own, kind="stable")
    cells, first = np.unique(others_own[order], return_index=True)
    # Of the partners with each cell, by how much the best gains by each other.
    best = np.full((gain.shape[1], gain.shape[1]), -np.inf, dtype=np.float32)
    best[cells] = np.maximum.reduceat(others_gain[order], first, axis=0)
    together = gain + best.T[own]
    rows = np.arange(own.size)
    together[rows, own] = -np.inf
    taken = together.argmax(axis=1)
    return taken, together[rows, taken] > 0


def _with_cells(own: Integers, cells: Integers) -> tuple[Integers, Integers]:
    """For each of some cells the places of all rows that have it, one after the other, and which of the cells."""
    order = np.argsort(own, kind="stable")
    first, last = (np.searchsorted(own[order], cells, side=side) for side in ("left", "right"))
    which = np.repeat(np.arange(cells.size), last - first)
    before = np.cumsum(last - first) - (last - first)
    return order[np.arange(which.size) - before[which] + first[which]], which


def _best_of_each(kind: Integers, gain: Floats, most: Integers) -> Integers:
    """Places by kind, then by falling gain: of each kind so many."""
    order = np.lexsort((-gain, kind))
    kinds = kind[order]
    rank = np.arange(kinds.size) - np.searchsorted(kinds, kinds)
    best: Integers = order[rank < most[kinds]]
    return best
