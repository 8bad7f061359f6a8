"""The rows of a stored table that count: none that a column leaves out, and few enough of each person."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.sealed_system import SealedSystem
from dpportal.tables.engines.duckdb.session import literal, parquet, stored_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import CELL, PERSON
from dpportal.tables.row_cells import CellBatch, RowCells
from dpportal.tables.sources import ROW_ID, RowSource
from mechanisms.arrays import Flags
from mechanisms.domain import Attribute

ROWS_PER_PART = 1_500_000


def counted_rows(
    path: FilePath,
    attributes: Sequence[Attribute],
    options: ReadOptions | None = None,
    persons: Persons | None = None,
    key: bytes | None = None,
) -> Iterator[CellBatch]:
    """The rows that count, some at a time, in the file's order.

    options: how fields are read. persons: if given, of each person's rows at most `max_rows` count, chosen at random by
    `key`, which must be secret and drawn for this count; with the same key and columns that leave rows out, the same.
    Raises KeyError if the table lacks a column, ValueError for persons without a key.
    """
    options = (options or ReadOptions()).settled()
    leaving = [place for place, a in enumerate(attributes) if a.leaves_out]
    with stored_table(path) as connection:
        chosen, passed = None, 0
        if persons is not None:
            source = RowSource(connection, path, options, [attributes[place] for place in leaving])
            chosen = _few_of_each_person(source, persons, key)
        for batch in RowCells(connection, path, options, attributes).batches():
            rows = batch.rows
            if chosen is not None:
                batch = replace(batch, there=chosen[passed : passed + rows])
            elif leaving:
                batch = replace(batch, there=np.all([batch.column(place) >= 0 for place in leaving], axis=0))
            yield batch
            passed += rows


def _few_of_each_person(source: RowSource, persons: Persons, key: bytes | None) -> Flags:
    """(rows,) which of the table's rows count: of each person `max_rows` at most, whose keyed digests are least.

    Rows that name nobody do not. Persons come in parts of about ROWS_PER_PART rows, each of whole persons, so that
    memory holds the heaps of one part only.
    """
    if not key or persons.max_rows < 1:
        raise ValueError("counting by person needs a key and max_rows >= 1")
    connection = source.connection
    [(rows,)] = connection.execute(f"SELECT count(*) FROM {parquet(source.path)}").fetchall()
    chosen = np.zeros(rows, dtype=np.bool_)
    with TemporaryDirectory(prefix="units-") as scratch:
        units = SealedSystem.own(Path(scratch) / "units.parquet")
        parts = max(1, -(-_write_persons(source, persons, units) // ROWS_PER_PART))
        digest = f"md5_number(concat({literal(key.hex())}, ':', {ROW_ID}))"
        for part in range(parts):
            numbers = connection.execute(
                f"SELECT unnest(min_by({ROW_ID}, {digest}, {int(persons.max_rows)})) AS {ROW_ID} "
                f"FROM {parquet(units)} WHERE person_hash % {parts} = {part} GROUP BY {PERSON}"
            )
            chosen[numbers.fetchnumpy()[ROW_ID]] = True
    return chosen


def _write_persons(source: RowSource, persons: Persons, units: str) -> int:
    """Write the person of each row that names one and is not left out; returns how many rows. units: an address."""
    source.connection.execute("SET preserve_insertion_order = false")
    there = [
        f"{PERSON} IS NOT NULL",
        *(f"{CELL}_{place} IS NOT NULL" for place in range(len(source.attributes))),
    ]
    rows = f"SELECT {PERSON}, {ROW_ID}, hash({PERSON}) AS person_hash FROM ({source.cells(persons)})"
    [(written,)] = source.connection.execute(
        f"COPY ({rows} WHERE {' AND '.join(there)}) TO {literal(units)} (FORMAT parquet, COMPRESSION snappy)"
    ).fetchall()
    source.connection.execute("RESET preserve_insertion_order")
    return int(written)
