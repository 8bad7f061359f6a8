"""True counts of a declared domain's cells: what a mechanism's private step is given."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.sealed_system import SealedSystem
from dpportal.tables.engines.duckdb.session import literal, parquet, stored_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import PERSON
from dpportal.tables.sources import ROW_ID, RowSource, domain_cell, every_cell
from mechanisms.domain import Attribute, Domain
from mechanisms.microdata.joint_counts import JointCounts
from mechanisms.microdata.whole_rows import WholeRows

BATCH_CELLS = 1 << 17
# Cells of whole rows in a batch.
BATCH_OF_ROWS = 1 << 20
ROWS_PER_PART = 1_500_000


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
    with stored_table(path) as connection:
        rows = RowSource(
            connection, path, (options or ReadOptions()).settled(), (*domain.attributes, *further)
        )
        with counted_rows(rows, domain_cell(domain, len(further)), persons, key) as parts:
            return _counted(connection, parts, domain.size)


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
    with stored_table(path) as connection:
        rows = RowSource(connection, path, (options or ReadOptions()).settled(), domain.attributes)
        with counted_rows(rows, every_cell(domain), persons, key) as parts:
            for columns in cells_in_batches(connection, parts, len(domain.shape)):
                counts.add(columns)
    return counts.together()


class _Tables:
    """Counts of tables of some of the domain's columns each; those of two columns all at once where that is faster."""

    def __init__(self, domain: Domain, tables: Sequence[Sequence[str]]) -> None:
        number = {name: place for place, name in enumerate(domain.names)}
        self.shape = domain.shape
        self.places = [tuple(number[name] for name in columns) for columns in tables]
        pairs = sum(len(chosen) == 2 for chosen in self.places)
        self.joint = JointCounts(self.shape) if JointCounts.is_faster(self.shape, pairs) else None
        sizes = [math.prod(self._sizes(chosen)) for chosen in self.places]
        # All in one array, of which each table is a part: a copy of many would take as much memory again.
        self.all = np.zeros(sum(sizes), dtype=np.int64)
        self.counts = np.split(self.all, np.cumsum(sizes)[:-1])

    def _is_joint(self, chosen: tuple[int, ...]) -> bool:
        return self.joint is not None and len(chosen) == 2

    def _sizes(self, chosen: tuple[int, ...]) -> list[int]:
        return [self.shape[place] for place in chosen]

    def add(self, columns: np.ndarray) -> None:
        """Count more rows: (columns, rows) cells."""
        if self.joint is not None:
            self.joint.add(list(columns))
        for chosen, table in zip(self.places, self.counts, strict=True):
            if not self._is_joint(chosen):
                _add(table, _cell([columns[place] for place in chosen], self._sizes(chosen)))

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
    with stored_table(path) as connection:
        rows = RowSource(connection, path, (options or ReadOptions()).settled(), domain.attributes)
        packed = [np.empty((len(packing.words), 0), dtype=np.int64)]
        with counted_rows(rows, every_cell(domain), persons, key) as parts:
            for columns in cells_in_batches(connection, parts, len(domain.shape)):
                packed.append(packing.pack(columns.T).reshape(len(packing.words), -1))
    return np.concatenate(packed, axis=1).ravel()


def cells_in_batches(
    connection: duckdb.DuckDBPyConnection, parts: list[str], columns: int
) -> Iterator[np.ndarray]:
    """The cells of all columns, (columns, rows) int64 at a time."""
    for rows in parts:
        rows_read = connection.sql(rows)
        for batch in rows_read.to_arrow_reader(max(1, min(BATCH_CELLS, BATCH_OF_ROWS // columns))):
            cells = batch["cell"].drop_null().flatten().to_numpy(zero_copy_only=False)
            yield np.array(cells.reshape(-1, columns).T, dtype=np.int64, order="C")


def _cell(columns: list[np.ndarray], shape: list[int]) -> np.ndarray:
    """Each row's cell in C order of a table of these columns."""
    cell = columns[0]
    for column, size in zip(columns[1:], shape[1:], strict=True):
        cell = cell * size + column
    return cell


def _add(counts: np.ndarray, cells: np.ndarray) -> None:
    """Count more rows, each by its cell, in place."""
    if counts.size > cells.size:
        np.add.at(counts, cells, 1)
    else:
        counts += np.bincount(cells, minlength=counts.size)


@contextmanager
def counted_rows(
    rows: RowSource, cell: str, persons: Persons | None, key: bytes | None
) -> Iterator[list[str]]:
    """SQL, a query for each part: `cell` of the rows that count.

    cell: SQL of what is wanted of a row, NULL where it is left out. Raises ValueError for persons without a key.
    """
    if persons is None:
        yield [f"SELECT {cell} AS cell FROM ({rows.cells()})"]
        return
    if not key or persons.max_rows < 1:
        raise ValueError("counting by person needs a key and max_rows >= 1")
    with TemporaryDirectory(prefix="units-") as scratch:
        units = SealedSystem.own(Path(scratch) / "units.parquet")
        yield _few_of_each_person(rows, cell, units, persons, key)


def _few_of_each_person(rows: RowSource, cell: str, units: str, persons: Persons, key: bytes) -> list[str]:
    """SQL, a query for each part of the persons: at most `max_rows` rows each, those whose keyed digests are least.

    Rows that name nobody are left out. A part holds whole persons and about ROWS_PER_PART rows, so that memory holds
    the heaps of one part only.
    cell: SQL of a row's cell. units: the address of a scratch file for each row's person and cell, so that
    cells are computed once and not for each part.
    """
    rows.connection.execute("SET preserve_insertion_order = false")
    source = rows.cells(persons)
    cells = f"SELECT {PERSON}, {ROW_ID}, {cell} AS cell, hash({PERSON}) AS person_hash FROM ({source})"
    copy = f"COPY (SELECT * FROM ({cells}) WHERE cell IS NOT NULL AND {PERSON} IS NOT NULL)"
    copied = rows.connection.execute(f"{copy} TO {literal(units)} (FORMAT parquet, COMPRESSION snappy)")
    [(table_rows,)] = copied.fetchall()
    parts = max(1, -(-table_rows // ROWS_PER_PART))
    digest = f"md5_number(concat({literal(key.hex())}, ':', {ROW_ID}))"
    return [
        f"SELECT unnest(min_by(cell, {digest}, {int(persons.max_rows)})) AS cell "
        f"FROM {parquet(units)} WHERE person_hash % {parts} = {part} GROUP BY {PERSON}"
        for part in range(parts)
    ]


def _counted(connection: duckdb.DuckDBPyConnection, parts: list[str], size: int) -> np.ndarray:
    """The rows of each cell.

    They are added up in an array, which there is anyway: to group millions of cells takes the engine thrice as long.
    """
    counts = np.zeros(size, dtype=np.int64)
    for rows in parts:
        cells = connection.sql(f"SELECT cell FROM ({rows}) WHERE cell IS NOT NULL")
        for batch in cells.to_arrow_reader(BATCH_CELLS):
            _add(counts, batch["cell"].to_numpy())
    return counts
