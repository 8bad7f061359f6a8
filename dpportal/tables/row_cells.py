"""The cells of a stored table's rows, in the file's order: a batch of rows at a time, a whole column at a time."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.field_meanings import FIELD, LEFT_OUT, AttributeMeanings, FieldMeanings
from dpportal.tables.layout import layout
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.pushdown.count_query import CELL
from dpportal.tables.sources import ROW_ID, RowSource
from mechanisms.arrays import Flags, Integers
from mechanisms.domain import Attribute

# Rows that the engine gives at a time.
ENGINE_ROWS = 2**15
# Rows that are counted together, unless a part of the file has more: a column's counts, which may be many, are fetched
# into the processor's cache once for all of them.
MOST_ROWS = 90_000


class StoredPart:
    """Some row groups of a stored table's file, of whose columns one is in memory: the one that was asked for last.

    The next one takes its place while the processor has it at hand.
    """

    def __init__(self, file: pq.ParquetFile, groups: Sequence[int]) -> None:
        self._file, self._groups = file, groups
        self._loaded: tuple[str, pa.Array] = ("", pa.nulls(0))
        self.num_rows: int = sum(file.metadata.row_group(group).num_rows for group in groups)

    def column(self, name: str) -> pa.Array:
        """All fields of a column, of texts as a dictionary."""
        if name != self._loaded[0]:
            table = self._file.read_row_groups(self._groups, columns=[name], use_threads=False)
            [column] = table.unify_dictionaries().columns
            self._loaded = name, column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        return self._loaded[1]


@dataclass(frozen=True)
class CellBatch:
    """The rows of a part of a table. Cells are found when they are asked for, so that few are in memory.

    others: cells of the columns that are not looked up, by place. there: the rows that count; None: all.
    """

    part: StoredPart
    meanings: Mapping[int, FieldMeanings]
    others: Mapping[int, Integers]
    there: Flags | None = None

    @property
    def rows(self) -> int:
        """How many count."""
        return self.part.num_rows if self.there is None else int(self.there.sum())

    def column(self, place: int) -> Integers:
        """(rows,) the cells of a column, `LEFT_OUT` where it leaves a row out."""
        cells = self.others[place] if place in self.others else self.meanings[place].cells(self.part)
        return cells if self.there is None else cells[self.there]

    def columns(self) -> Integers:
        """(columns, rows) of all columns."""
        cells = np.empty((len(self.meanings) + len(self.others), self.rows), dtype=np.int64)
        for place in range(len(cells)):
            cells[place] = self.column(place)
        return cells


class RowCells:
    """The rows of a stored table as attributes read them.

    A column of few different fields is decoded as places among these, whose meanings `FieldMeanings` asks for once.
    Any other the engine reads row by row.
    options: settled. Raises KeyError if the table lacks a column.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: FilePath,
        options: ReadOptions,
        attributes: Sequence[Attribute],
    ) -> None:
        self._connection, self._path, self._options = connection, path, options
        self._attributes = attributes
        self._columns = layout(connection, path)
        # The engine reads rows meanwhile, so what fields mean is asked of it beside that.
        cursor = connection.cursor()
        meanings: dict[Attribute, AttributeMeanings] = {}
        self._looked_up: dict[int, FieldMeanings] = {}
        for place, a in enumerate(attributes):
            stored, alike = self._columns[a.column], replace(a, name=FIELD, source="")
            if stored.few:
                own = meanings.setdefault(alike, AttributeMeanings(cursor, alike, options))
                self._looked_up[place] = FieldMeanings(own, stored)

    def batches(self) -> Iterator[CellBatch]:
        """All rows, in the file's order."""
        places = [place for place in range(len(self._attributes)) if place not in self._looked_up]
        engine = self._read_by_engine([self._attributes[place] for place in places]) if places else None
        columns = (self._columns[self._attributes[place].column] for place in self._looked_up)
        names = list(dict.fromkeys(part for column in columns for part in column.parts))
        # Of a column of numbers it says nothing to read it as a dictionary.
        with (
            self._path.open("rb") as source,
            pq.ParquetFile(source, read_dictionary=names, pre_buffer=False) as file,
        ):
            for groups in _joined_groups(file.metadata):
                part = StoredPart(file, groups)
                cells = engine.next(part.num_rows) if engine else ()
                yield CellBatch(part, self._looked_up, dict(zip(places, cells, strict=True)))

    def _read_by_engine(self, attributes: Sequence[Attribute]) -> _InStep:
        rows = RowSource(self._connection, self._path, self._options, attributes).cells()
        cells = [
            f"coalesce({CELL}_{place}, {LEFT_OUT}) AS {CELL}_{place}" for place in range(len(attributes))
        ]
        relation = self._connection.sql(f"SELECT {', '.join([ROW_ID, *cells])} FROM ({rows})")
        return _InStep(relation.to_arrow_reader(ENGINE_ROWS))


def _joined_groups(footer: pq.FileMetaData) -> Iterator[list[int]]:
    """All row groups in their order, those that have few rows together."""
    groups: list[int] = []
    rows = 0
    for group in range(footer.num_row_groups):
        own = footer.row_group(group).num_rows
        if groups and rows + own > MOST_ROWS:
            yield groups
            groups, rows = [], 0
        groups, rows = [*groups, group], rows + own
    if groups:
        yield groups


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
