"""True counts of a declared domain's cells: what a mechanism's private step is given."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.counted_rows import counted_rows
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.row_cells import CellBatch
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain
from mechanisms.microdata.joint_counts import JointCounts
from mechanisms.microdata.whole_rows import WholeRows


def count_cells(
    path: FilePath,
    domain: Domain,
    options: ReadOptions | None = None,
    *,
    persons: Persons | None = None,
    key: bytes | None = None,
    further: Sequence[Attribute] = (),
) -> np.ndarray:
    """Count a stored table's rows in each cell of a domain; rows that a closed column leaves out are as if not there.

    options: how fields are read. persons: if given, of each person's rows at most `max_rows` are counted, chosen
    at random by `key`, which must be secret and drawn for this count. further: columns beside the domain's that leave
    rows out, too, so that tables of some of a release's columns each count the same rows.
    Returns (domain.size,) int64 in C order of `domain.shape`.
    Raises KeyError if the table lacks a column, ValueError for persons without a key.
    """
    # They are added up in an array, which there is anyway.
    counts = np.zeros(domain.size, dtype=np.int64)
    for batch in counted_rows(path, (*domain.attributes, *further), options, persons, key):
        columns = [batch.column(place) for place in range(len(domain.shape))]
        _add(counts, cells_of_table(columns, domain.shape, batch.rows))
    return counts


def count_tables(
    path: FilePath,
    domain: Domain,
    tables: Sequence[Sequence[str]],
    options: ReadOptions | None = None,
    *,
    persons: Persons | None = None,
    key: bytes | None = None,
) -> np.ndarray:
    """Count a stored table's rows in tables of some of the domain's columns each, in one pass.

    tables: each by its columns. A row that any column leaves out is in none; else it is as for `count_cells`, and the
    same rows of a person are in every table.
    Returns the tables' counts one after the other, each in C order, as int64.
    """
    counts = _Tables(domain, tables)
    for batch in counted_rows(path, domain.attributes, options, persons, key):
        counts.add(batch)
    return counts.together()


class _Tables:
    """Counts of tables of some of the domain's columns each; those of two columns all at once where that is faster."""

    def __init__(self, domain: Domain, tables: Sequence[Sequence[str]]) -> None:
        number = {name: place for place, name in enumerate(domain.names)}
        self.shape = domain.shape
        self.places = [tuple(number[name] for name in columns) for columns in tables]
        pairs = sum(len(chosen) == 2 for chosen in self.places)
        self.joint = JointCounts(self.shape) if JointCounts.is_faster(self.shape, pairs) else None
        times = Counter(p for chosen in self.places if not self._is_joint(chosen) for p in chosen)
        self.shared = sorted(place for place, tables in times.items() if tables > 1)
        sizes = [math.prod(self.shape[place] for place in chosen) for chosen in self.places]
        # All in one array, of which each table is a part: a copy of many would take as much memory again.
        self.all = np.zeros(sum(sizes), dtype=np.int64)
        self.counts = np.split(self.all, np.cumsum(sizes)[:-1])
        # Columns that are in one table alone are read in their order.
        self.in_order = sorted(
            zip(self.places, self.counts, strict=True), key=lambda own: max(own[0], default=0)
        )

    def _is_joint(self, chosen: tuple[int, ...]) -> bool:
        return self.joint is not None and len(chosen) == 2

    def add(self, batch: CellBatch) -> None:
        """Count more rows."""
        if self.joint is not None:
            self.joint.add(list(batch.columns()))
        shared = {place: batch.column(place) for place in self.shared}
        for chosen, table in self.in_order:
            if not self._is_joint(chosen):
                columns = [shared[p] if p in shared else batch.column(p) for p in chosen]
                _add(table, cells_of_table(columns, [self.shape[p] for p in chosen], batch.rows))

    def together(self) -> np.ndarray:
        """One after the other, each in C order."""
        for chosen, table in zip(self.places, self.counts, strict=True):
            if self.joint is not None and self._is_joint(chosen):
                table[:] = self.joint.table(*chosen).ravel()
        return self.all


def packed_rows(
    path: FilePath,
    domain: Domain,
    options: ReadOptions | None = None,
    *,
    persons: Persons | None = None,
    key: bytes | None = None,
) -> np.ndarray:
    """The cells of the rows that `count_tables` counts, given the same key, as `WholeRows` packs them, in no order.

    Rows are packed as they are read, a batch at a time.
    """
    packing = WholeRows(domain.shape)
    packed = [np.empty((len(packing.words), 0), dtype=np.int64)]
    for batch in counted_rows(path, domain.attributes, options, persons, key):
        packed.append(packing.pack(batch.columns().T).reshape(len(packing.words), -1))
    return np.concatenate(packed, axis=1).ravel()


def cells_of_table(columns: Sequence[Integers], shape: Sequence[int], rows: int) -> Integers:
    """(rows,) each row's cell in C order of a table of these columns."""
    if not columns:
        return np.zeros(rows, dtype=np.int64)
    cell = columns[0]
    for column, size in zip(columns[1:], shape[1:], strict=True):
        cell = cell * size
        cell += column
    return cell


def _add(counts: np.ndarray, cells: np.ndarray) -> None:
    """Count more rows, each by its cell, in place."""
    if counts.size > cells.size:
        np.add.at(counts, cells, 1)
    else:
        counts += np.bincount(cells, minlength=counts.size)
