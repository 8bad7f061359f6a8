"""The cells of a stored table's rows, in the file's order: a batch of rows at a time, a whole column at a time."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.tables.field_meanings import LEFT_OUT, FieldMeanings
from dpportal.tables.layout import layout
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.pushdown.count_query import CELL
from dpportal.tables.sources import ROW_ID, RowSource
from mechanisms.arrays import Flags, Integers
from mechanisms.domain import Attribute

# Rows and fields of a batch, at most: what is done once for a column and batch is next to nothing, and memory is small.
MOST_ROWS, MOST_FIELDS = 2**16, 2**25


@dataclass(frozen=True)
class CellBatch:
    """Some rows of a table. Cells are found column by column, when they are asked for: a column stays in the
    processor's cache until it is counted.

    fields: of the columns that are looked up. others: cells of the others, by place. there: the rows that count; None:
    all.
    """

    fields: pa.RecordBatch
    meanings: Mapping[int, FieldMeanings]
    others: Mapping[int, Integers]
    there: Flags | None = None

    @property
    def rows(self) -> int:
        """How many count."""
        return self.fields.num_rows if self.there is None else int(self.there.sum())

    def column(self, place: int) -> Integers:
        """(rows,) the cells of a column, `LEFT_OUT` where it leaves a row out."""
        cells = self.others[place] if place in self.others else self.meanings[place].cells(self.fields)
        return cells if self.there is None else cells[self.there]

    def columns(self) -> Integers:
        """(columns, rows) of all columns."""
        columns = range(len(self.meanings) + len(self.others))
        return np.stack([self.column(place) for place in columns]) if columns else self._nothing()

    def _nothing(self) -> Integers:
        return np.empty((0, self.rows), dtype=np.int64)


class RowCells:
    """The rows of a stored table as attributes read them.

    A column of few different fields is decoded as places among these, whose meanings `FieldMeanings` asks for once.
    Any other the engine reads row by row.
    options: settled. Raises KeyError if the table lacks a column.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        options: ReadOptions,
        attributes: Sequence[Attribute],
    ) -> None:
        self._connection, self._path, self._options = connection, path, options
        self._attributes = attributes
        self._rows = max(1, min(MOST_ROWS, MOST_FIELDS // max(1, len(attributes))))
        self._columns = layout(connection, path)
        # The engine reads rows meanwhile, so what fields mean is asked of it beside that.
        asked = connection.cursor()
        self._looked_up = {
            place: FieldMeanings(asked, a, self._columns[a.column], options)
            for place, a in enumerate(attributes)
            if self._columns[a.column].few
        }

    def batches(self) -> Iterator[CellBatch]:
        """All rows, in the file's order."""
        places = [place for place in range(len(self._attributes)) if place not in self._looked_up]
        engine = self._read_by_engine([self._attributes[place] for place in places]) if places else None
        for fields in self._fields():
            cells = engine.next(fields.num_rows) if engine else ()
            yield CellBatch(fields, self._looked_up, dict(zip(places, cells, strict=True)))

    def _fields(self) -> Iterator[pa.RecordBatch]:
        """The stored columns of those whose cells are looked up, of texts as dictionaries."""
        columns = (self._columns[self._attributes[place].column] for place in self._looked_up)
        parts = list(dict.fromkeys(part for column in columns for part in column.parts))
        # Of a column of numbers this says nothing.
        with pq.ParquetFile(self._path, read_dictionary=parts, pre_buffer=False) as file:
            yield from file.iter_batches(self._rows, columns=parts, use_threads=False)

    def _read_by_engine(self, attributes: Sequence[Attribute]) -> _InStep:
        rows = RowSource(self._connection, self._path, self._options, attributes).cells()
        cells = [f"coalesce({CELL}_{place}, {LEFT_OUT}) AS {CELL}_{place}" for place in range(len(attributes))]
        found = self._connection.sql(f"SELECT {', '.join([ROW_ID, *cells])} FROM ({rows})")
        return _InStep(found.to_arrow_reader(self._rows))


class _InStep:
    """Rows that the engine reads, in the order of their numbers, by as many as another reader has.

    The engine gives rows as it has them, several parts of a file at once: those that come early wait for their turn.
    """

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._early: list[tuple[Integers, Integers]] = []
        self._passed = 0

    def next(self, rows: int) -> Integers:
        """(columns, rows) int64."""
        cells = np.empty((len(self._reader.schema) - 1, rows), dtype=np.int64)
        end, missing, parts = self._passed + rows, rows, self._early
        self._early = []
        while missing or parts:
            numbers, own = parts.pop() if parts else self._read()
            here = numbers < end
            cells[:, numbers[here] - self._passed] = own[:, here]
            missing -= int(here.sum())
            if not here.all():
                self._early.append((numbers[~here], own[:, ~here]))
        self._passed = end
        return cells

    def _read(self) -> tuple[Integers, Integers]:
        """Numbers of rows, and their cells. Raises StopIteration if the engine has no more."""
        numbers, *cells = (column.to_numpy() for column in self._reader.read_next_batch().columns)
        return numbers, np.stack(cells)
