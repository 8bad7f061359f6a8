"""Rows mended that hold what cannot occur: by exchanges, then by new cells, where the fault is and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.microdata.cell_rows import CellRows
from mechanisms.microdata.impossible import Impossible

# Exchanges that are tried: for each row, and of few rows so many in all and in a round. Rounds without success that end
# them.
TRIES, FEW, LEAST_TRIES, PATIENCE = 3, 1 << 19, 1_000, 10
# New cells are given to so many parts of the broken rows in turn, as columns' counts change; and cells looked at once.
PARTS, AT_ONCE = 20, 1 << 20


def repaired(
    rows: CellRows,
    target: Sequence[Floats],
    impossible: Impossible,
    possible: Callable[[], Sequence[int]],
    random: np.random.Generator,
) -> CellRows:
    """(n, d) rows of cells without impossible pairs; where no row holds one, as they were.

    target: of each column (c,) counts >= 0 that the rows should have, up to a factor. possible: finds a row that is.
    First values are exchanged with other rows, which keeps every column's counts. Then a broken row takes a new cell in
    a column of a pair that it breaks, by the column's wanted counts; where no single cell mends it, one that leaves
    fewer broken, and so on. What still is broken takes those columns that hang together by zeros from a row that is
    whole. A column that no fault of a row concerns stays.
    """
    repair = _Repair(rows.copy(order="F"), target, impossible, random)
    repair.exchange()
    repair.replace(possible)
    return repair.rows


class _Repair:
    """Rows while they are mended, and for each column that a zero names how many should have each cell."""

    def __init__(
        self,
        rows: CellRows,
        target: Sequence[Floats],
        impossible: Impossible,
        random: np.random.Generator,
    ) -> None:
        self.rows, self._random, self._impossible = rows, random, impossible
        self._sizes = {j: target[j].size for j in impossible.by_column}
        self._counts: dict[int, Integers] = {}
        self._clashes = _clashes(impossible, self._sizes)
        self._target = {
            j: target[j] * (rows.shape[0] / max(float(target[j].sum()), 1e-9)) for j in self._sizes
        }

    def exchange(self) -> None:
        """Broken rows exchange the value of a column with random rows, where that mends and breaks nothing."""
        broken, tries, without = self._broken(), max(FEW, TRIES * self.rows.shape[0]), 0
        while broken.size and tries > 0 and without < PATIENCE:
            before = self._impossible.faults(self.rows[broken]).sum()
            for column in self._sizes:
                tries -= self._exchanged(broken, column)
                broken = self._broken(broken)
            without = without + 1 if self._impossible.faults(self.rows[broken]).sum() == before else 0

    def replace(self, possible: Callable[[], Sequence[int]]) -> None:
        """Broken rows take new cells; each turn leaves fewer pairs broken, or the rest to the last remedy."""
        left = self._broken()
        self._counts = {j: np.bincount(self.rows[:, j], minlength=size) for j, size in self._sizes.items()}
        while left.size:
            changed = self._replaced(left, entire=True)
            changed += self._replaced(self._broken(left), entire=False)
            left = self._broken(left)
            if not changed:
                self._copy(left, possible)
                return

    def _broken(self, among: Integers | None = None) -> Integers:
        places = np.arange(self.rows.shape[0]) if among is None else among
        return places[self._impossible.broken(self.rows[places])]

    def _exchanged(self, broken: Integers, column: int) -> int:
        """One round of a column; how many exchanges were tried."""
        one = broken[self._faults(broken, column, self.rows[broken, column]) > 0]
        if not one.size:
            return 0
        one = np.tile(one, -(-LEAST_TRIES // one.size))
        other = self._random.integers(0, self.rows.shape[0], one.size)
        before = self._impossible.faults(self.rows[one]), self._impossible.faults(self.rows[other])
        mended, partner = self.rows[one], self.rows[other]
        mended[:, column], partner[:, column] = self.rows[other, column], self.rows[one, column]
        after = self._impossible.faults(mended), self._impossible.faults(partner)
        works = (one != other) & (after[0] < before[0]) & (after[1] <= before[1])
        first, second = _each_once(one[works], other[works])
        cells = self.rows[first, column]
        self.rows[first, column], self.rows[second, column] = self.rows[second, column], cells
        return one.size

    def _faults(self, places: Integers, column: int, cells: Integers) -> Integers:
        """(n,) how many pairs each of some rows would break with these cells in a column."""
        result = np.zeros(places.size, dtype=np.int64)
        for (own, other), clashes in self._clashes.items():
            if own == column:
                result += clashes[cells, self.rows[places, other]]
        return result

    def _faults_of_cells(self, places: Integers, column: int) -> Integers:
        """(n, c) how many pairs each of some rows would break with each cell of a column."""
        result = np.zeros((places.size, self._sizes[column]), dtype=np.int64)
        for (own, other), clashes in self._clashes.items():
            if own == column:
                result += clashes[:, self.rows[places, other]].T
        return result

    def _replaced(self, broken: Integers, *, entire: bool) -> int:
        """How many rows took a new cell: one that mends the row, or else (not whole) that breaks the fewest pairs."""
        if not broken.size:
            return 0
        broken = self._random.permutation(broken)
        size = max(1, min(-(-broken.size // PARTS), AT_ONCE // max(self._sizes.values())))
        return sum(self._given(broken[start : start + size], entire) for start in range(0, broken.size, size))

    def _given(self, places: Integers, entire: bool) -> int:
        """One part of the broken rows: each takes the column and cell after which counts are nearest to the wanted."""
        faults = self._impossible.faults(self.rows[places])
        best = np.full(places.size, -np.inf)
        column, cell = np.zeros((2, places.size), dtype=np.int64)
        for j in self._sizes:
            gain, taken = self._offer(places, j, faults, entire)
            better = gain > best
            best[better], column[better], cell[better] = gain[better], j, taken[better]
        fixed = np.isfinite(best)
        self._count(places[fixed], column[fixed], -1)
        self.rows[places[fixed], column[fixed]] = cell[fixed]
        self._count(places[fixed], column[fixed], 1)
        return int(fixed.sum())

    def _count(self, places: Integers, column: Integers, by: int) -> None:
        for j, counts in self._counts.items():
            cells = self.rows[places[column == j], j]
            counts += by * np.bincount(cells, minlength=counts.size)

    def _offer(
        self, places: Integers, column: int, faults: Integers, entire: bool
    ) -> tuple[Floats, Integers]:
        """For each row a cell that it could take in a column, and how much nearer that brings the counts; -inf: none.

        Gains are those of Σ (count - wanted)² / (wanted + 1). A column whose allowed cells nobody should have comes
        last, and its cells are drawn evenly.
        """
        own = self.rows[places, column]
        of_cells = self._faults_of_cells(places, column)
        now = of_cells[np.arange(places.size), own]
        least = np.minimum(of_cells.min(axis=1), now - 1)
        if entire:
            least = np.minimum(least, now - faults)
        allowed = (of_cells == least[:, None]) & (now > 0)[:, None]
        target, counts = self._target[column], self._counts[column]
        weights = _quota(allowed, target, counts, places.size)
        unwanted = weights.sum(axis=1) <= 0
        weights[unwanted] = allowed[unwanted]
        taken = _sampled(weights, self._random)
        surplus = (counts - target) / (target + 1)
        gain: Floats = surplus[own] - surplus[taken] - np.where(unwanted, 1e12, 0)
        gain[~allowed.any(axis=1)] = -np.inf
        return gain, taken

    def _copy(self, places: Integers, possible: Callable[[], Sequence[int]]) -> None:
        """The columns that hang together by zeros, where rows break some, from a random row that is whole there."""
        for columns in _parts(self._impossible):
            apart = self._impossible.among(columns)
            broken = places[apart.broken(self.rows[places])]
            intact = np.flatnonzero(~apart.broken(self.rows))
            if intact.size:
                new = self.rows[self._random.choice(intact, broken.size)][:, columns]
            else:
                new = np.array(possible())[None, columns]
            self.rows[broken[:, None], np.array(columns)] = new


def _clashes(impossible: Impossible, sizes: Mapping[int, int]) -> dict[tuple[int, int], Flags]:
    """By (column, other), both ways, which of their cells exclude each other, (c, e)."""
    result: dict[tuple[int, int], Flags] = {}
    for (a, b), pairs in impossible.cells.items():
        first, second = np.array(pairs).T
        result[(a, b)] = np.zeros((sizes[a], sizes[b]), dtype=bool)
        result[(a, b)][first, second] = True
        result[(b, a)] = result[(a, b)].T
    return result


def _each_once(one: Integers, other: Integers) -> tuple[Integers, Integers]:
    """Of exchanges those that are the first in which either row takes part."""
    rows = np.column_stack([one, other]).ravel()
    _rows, first, again = np.unique(rows, return_index=True, return_inverse=True)
    earliest = (first[again.ravel()] == np.arange(rows.size)).reshape(-1, 2).all(axis=1)
    return one[earliest], other[earliest]


def _quota(allowed: Flags, target: Floats, counts: Integers, more: int) -> Floats:
    """(n, c) how many each cell lacks if so many rows more shared the allowed cells as is wanted."""
    have, total = allowed @ counts + more, np.maximum(allowed @ target, 1e-9)
    lacking: Floats = np.maximum(0, np.outer(have / total, target) - counts) * (allowed * (target > 0))
    return lacking


def _sampled(weights: Floats, random: np.random.Generator) -> Integers:
    """(n,) a cell for each row by (n, c) weights; the last one where all are 0."""
    ends = weights.cumsum(axis=1)
    draws = random.random(weights.shape[0]) * ends[:, -1]
    cells: Integers = np.minimum((ends <= draws[:, None]).sum(axis=1), weights.shape[1] - 1)
    return cells


def _parts(impossible: Impossible) -> list[list[int]]:
    """The columns that hang together by zeros."""
    left, parts = set(impossible.by_column), []
    while left:
        part, edge = set[int](), {min(left)}
        while edge:
            part |= edge
            edge = {other for j in edge for _own, other, _cell in impossible.by_column[j]} - part
        parts.append(sorted(part))
        left -= part
    return parts
