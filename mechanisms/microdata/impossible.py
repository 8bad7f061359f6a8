"""Structural zeros: pairs of cells that cannot occur in one row, and rows without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.arrays import Flags, Integers
from mechanisms.microdata.tables import Grouping, Pair

# Steps of the search for a row, and rounds of repairing rows before the last remedy.
MOST_STEPS, ROUNDS = 100_000, 20


@dataclass(frozen=True)
class Impossible:
    """By pair of columns (a < b) the pairs of cells that no row holds."""

    cells: Mapping[Pair, tuple[tuple[int, int], ...]]

    @cached_property
    def by_column(self) -> Mapping[int, tuple[tuple[int, int, int], ...]]:
        """For each column the (own cell, other column, other's cell) that exclude each other."""
        found: dict[int, list[tuple[int, int, int]]] = {}
        for (a, b), pairs in self.cells.items():
            for x, y in pairs:
                found.setdefault(a, []).append((x, b, y))
                found.setdefault(b, []).append((y, a, x))
        return {column: tuple(pairs) for column, pairs in found.items()}

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

    def broken(self, rows: Integers) -> Flags:
        """Which of (n, d) rows hold a pair that cannot occur, (n,) bool."""
        broken = np.zeros(rows.shape[0], dtype=bool)
        for (a, b), pairs in self.cells.items():
            for x, y in pairs:
                broken |= (rows[:, a] == x) & (rows[:, b] == y)
        return broken

    def allowed(self, column: int, rows: Integers, size: int) -> Flags:
        """Which cells of a column each row could take, the other columns as they are: (n, size) bool."""
        allowed = np.ones((rows.shape[0], size), dtype=bool)
        for own, other, cell in self.by_column.get(column, ()):
            allowed[rows[:, other] == cell, own] = False
        return allowed


def possible_row(shape: Sequence[int], impossible: Impossible) -> list[int] | None:
    """A row that holds no impossible pair, or None if none was found: depth first over the columns concerned."""
    columns = sorted(impossible.by_column)
    row = [0] * len(shape)
    steps = 0

    def fits(depth: int, cell: int) -> bool:
        column, before = columns[depth], columns[:depth]
        clashes = impossible.by_column[column]
        return not any(own == cell and other in before and row[other] == y for own, other, y in clashes)

    def search(depth: int) -> bool:
        nonlocal steps
        if depth == len(columns):
            return True
        for cell in range(shape[columns[depth]]):
            steps += 1
            if steps > MOST_STEPS:
                return False
            if fits(depth, cell):
                row[columns[depth]] = cell
                if search(depth + 1):
                    return True
        return False

    return row if search(0) else None


def repaired(
    rows: Integers, shape: Sequence[int], impossible: Impossible, random: np.random.Generator
) -> Integers:
    """(n, d) rows of cells without impossible pairs; rows that hold none stay as they are.

    First values are exchanged with other rows that then hold none either, which keeps every column's counts; then a row
    takes a cell that it can have; and what still cannot be mended becomes a row that is possible.
    """
    rows = rows.copy()
    for _ in range(ROUNDS):
        for column in impossible.by_column:
            _exchanged(rows, column, impossible, random)
    for column in impossible.by_column:
        _replaced(rows, column, shape[column], impossible, random)
    broken = impossible.broken(rows)
    if broken.any():
        row = possible_row(shape, impossible)
        assert row is not None
        rows[broken] = row
    return rows


def _exchanged(rows: Integers, column: int, impossible: Impossible, random: np.random.Generator) -> None:
    """Broken rows exchange their value of a column with a random row each, where that leaves both whole."""
    broken = np.flatnonzero(impossible.broken(rows))
    if not broken.size:
        return
    partners = random.permutation(rows.shape[0])[: broken.size]
    apart = ~np.isin(partners, broken)
    broken, partners = broken[: partners.size][apart], partners[apart]
    one, other = rows[broken], rows[partners]
    one[:, column], other[:, column] = rows[partners, column], rows[broken, column]
    whole = ~impossible.broken(one) & ~impossible.broken(other)
    rows[broken[whole]], rows[partners[whole]] = one[whole], other[whole]


def _replaced(
    rows: Integers, column: int, size: int, impossible: Impossible, random: np.random.Generator
) -> None:
    """Broken rows take a random cell of a column that they can have, if there is one."""
    broken = np.flatnonzero(impossible.broken(rows))
    if not broken.size:
        return
    allowed = impossible.allowed(column, rows[broken], size)
    some = allowed.any(axis=1)
    chosen = (random.random(allowed.shape) * allowed).argmax(axis=1)
    rows[broken[some], column] = chosen[some]
