"""What the fields of a column of few different ones mean: each is asked of the engine once, and rows look it up."""
# ruff: noqa: S608 names and values are quoted by SQLGlot

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from sqlglot import exp

from dpportal.tables.engines.duckdb.dialect import DuckDB
from dpportal.tables.layout import StoredColumn, or_null, written
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.pushdown.count_query import CELL, cells
from dpportal.tables.pushdown.types import STORED
from dpportal.tables.sources import PLAIN, TEXT, Upload
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute

# Stands for the cell of a row that a column leaves out.
LEFT_OUT = -1
FIELDS_TABLE, FIELD, PLACE = "asked", "field", "place"
# Whole numbers from the least to the greatest, up to which each has its place in an array.
MOST_INTEGERS = 2**16
# Different fields whose meaning is remembered, at most.
MOST_KNOWN = 2**17
# How far beyond the numbers that were seen others are asked about with them, as a share of their range.
FURTHER = 4


class StoredRows(Protocol):
    """Some rows of a stored table."""

    @property
    def num_rows(self) -> int: ...

    def column(self, name: str) -> pa.Array:
        """All fields of one of the file's columns, texts as a dictionary."""


class AttributeMeanings:
    """The cells of fields as an attribute reads them, `LEFT_OUT` where it leaves the row out; each is asked for once.

    Columns that are declared alike but for their names share one: of hundreds of questions with the same answers a
    survey has, the engine would else be asked as often.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, attribute: Attribute, options: ReadOptions
    ) -> None:
        self._connection, self._attribute, self._options = connection, attribute, options
        self._known: dict[str | float, int] = {}
        self.integers = _NearbyIntegers(self)

    def ask(self, fields: pa.Array) -> Integers:
        """(n,) int64: what texts, or plain numbers, mean; asked of the engine."""
        places = pa.array(np.arange(len(fields)))
        self._connection.register(FIELDS_TABLE, pa.table({PLACE: places, FIELD: fields}))
        statement = self._statement_for_numbers if pt.is_floating(fields.type) else self._statement_for_texts
        # A relation of the engine's would be bound twice, which takes as long as all the rest.
        cells = np.asarray(self._connection.execute(statement).fetchnumpy()[CELL], dtype=np.int64)
        self._connection.unregister(FIELDS_TABLE)
        return cells

    def of_each(self, fields: pa.Array) -> Integers:
        """(n,) int64 of different fields, those asked of the engine that are not remembered."""
        keys = fields.to_pylist()
        if any(key not in self._known for key in keys):
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            new = [key for key in keys if key not in self._known]
            texts = pa.array(new, fields.type)
            self._known.update(zip(new, self.ask(texts).tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64)

    @cached_property
    def of_nothing(self) -> int:
        """The cell of an empty field."""
        return int(self.ask(pa.nulls(1, pa.string()))[0])

    @cached_property
    def _statement_for_texts(self) -> str:
        return _statement(self._attribute, StoredColumn(0, or_null(FIELD)), self._options)

    @cached_property
    def _statement_for_numbers(self) -> str:
        number = StoredColumn(0, written(FIELD), FIELD, all_plain=True)
        return _statement(self._attribute, number, self._options)


class FieldMeanings:
    """The cells of a column's fields, by their meanings. stored: where its fields lie."""

    def __init__(self, meanings: AttributeMeanings, stored: StoredColumn) -> None:
        self._meanings, self._parts = meanings, stored.parts
        self._last: tuple[pa.Array, Integers] | None = None
        self._are_integers = True

    def cells(self, batch: StoredRows) -> Integers:
        """(rows,) int64. batch: has all parts in which the column's fields lie."""
        cells: Integers | None = None
        for part in reversed(self._parts):
            fields = batch.column(part)
            if fields.null_count == len(fields):
                continue
            own = self._of_numbers(fields) if pt.is_floating(fields.type) else self._of_different(fields)
            if fields.null_count:
                # A text that is written otherwise than its number has that, too.
                others = self._meanings.of_nothing if cells is None else cells
                own = np.where(fields.is_valid().to_numpy(zero_copy_only=False), own, others)
            cells = own
        return np.full(batch.num_rows, self._meanings.of_nothing) if cells is None else cells

    def _of_numbers(self, numbers: pa.Array) -> Integers:
        """(rows,) of an array of numbers; anything where there is none, as `_of_different`."""
        if self._are_integers:
            cells = self._meanings.integers.cells(_filled(numbers, 0.0))
            if cells is not None:
                return cells
            self._are_integers = False
        return self._of_different(numbers.dictionary_encode())

    def _of_different(self, fields: pa.DictionaryArray) -> Integers:
        if self._last is None or not fields.dictionary.equals(self._last[0]):
            self._last = fields.dictionary, self._meanings.of_each(fields.dictionary)
        return self._last[1].take(_filled(fields.indices, 0), mode="clip")


class _NearbyIntegers:
    """The cells of whole numbers that lie near one another, each in its place of an array."""

    def __init__(self, meanings: AttributeMeanings) -> None:
        self._meanings = meanings
        self._first, self._cells = 0, np.zeros(0, dtype=np.int64)
        # From the first to the last of these numbers each has the next cell, so that nothing need be looked up.
        self._in_turn = range(0)

    def cells(self, numbers: np.ndarray) -> Integers | None:
        """(n,) int64; None where one of the numbers has a fraction, or where they lie too far from one another."""
        places = numbers.astype(np.int64)
        if not (places == numbers).all():
            return None
        least, most = int(places.min()), int(places.max())
        if not self._has(least, most) and not self._grow(least, most):
            return None
        if self._in_turn.start <= least and most < self._in_turn.stop:
            start = self._in_turn.start
            places += int(self._cells[start - self._first]) - start
            return places
        places -= self._first
        return self._cells.take(places, mode="clip")

    def _has(self, least: int, most: int) -> bool:
        return self._first <= least and most < self._first + len(self._cells)

    def _grow(self, least: int, most: int) -> bool:
        """Ask about all numbers of a range, and of the one that is known."""
        if len(self._cells):
            least, most = min(least, self._first), max(most, self._first + len(self._cells) - 1)
        further = (most - least) // FURTHER
        least, most = least - further, most + further
        if most - least >= MOST_INTEGERS:
            return False
        self._first = least
        self._cells = self._meanings.ask(pa.array(np.arange(least, most + 1), pa.float64()))
        ends = np.concatenate([[0], np.flatnonzero(np.diff(self._cells) != 1) + 1, [len(self._cells)]])
        longest = int(np.argmax(np.diff(ends)))
        self._in_turn = range(least + int(ends[longest]), least + int(ends[longest + 1]))
        return True


def _filled(numbers: pa.Array, value: float) -> np.ndarray:
    filled: np.ndarray = (numbers.fill_null(value) if numbers.null_count else numbers).to_numpy()
    return filled


def _statement(attribute: Attribute, field: StoredColumn, options: ReadOptions) -> str:
    """SQL: the cell of each field that is asked about, in the order of their places."""
    selected = [PLACE, f"{field.text} AS {TEXT}_{field.number}"]
    if field.plain:
        selected.append(f"{field.plain} AS {PLAIN}_{field.number}")
    source = Upload(
        DuckDB(),
        f"(SELECT {', '.join(selected)} FROM {FIELDS_TABLE}) AS rows",
        {attribute.column: STORED},
        {attribute.column: field},
    )
    rows = source.dialect.sql(cells(source, [attribute], options, None, [exp.column(PLACE)]))
    return f"SELECT coalesce({CELL}_0, {LEFT_OUT}) AS {CELL} FROM ({rows}) ORDER BY {PLACE}"
