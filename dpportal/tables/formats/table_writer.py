"""Writes a stored table, batch by batch, with its fingerprint and sketch in the same pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.layout import (
    NAMES_KEY,
    SHORT_DICTIONARY,
    StoredFields,
    names_metadata,
    otherwise_name,
    plain_name,
    text_name,
)
from dpportal.tables.similarity.fingerprint import Fingerprint

# Different values of a column in the first batch, up to which it is written by a dictionary; of more, looking each up
# takes longest.
MOST_IN_DICTIONARY = 10_000
# Rows of a row group, the engine's usual number, and what they take in memory until they are written, at most. To read
# many columns of few rows each takes longest by what is done once for each of them, its dictionary above all.
MOST_ROWS, MOST_BYTES = 122_880, 2**27
# Of these bytes, those of texts, each counted once where there is a dictionary: one column may have them all, and who
# writes it holds them twice more. Of numbers and places in dictionaries it holds one column among many.
MOST_TEXT_BYTES = 3 * 2**24


@dataclass(frozen=True)
class _Size:
    """Of rows that wait. text_bytes: of all bytes those of texts, without places in dictionaries."""

    rows: int = 0
    bytes: int = 0
    text_bytes: int = 0

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Self:
        """What several columns share counts once."""
        texts = [place for place, field in enumerate(batch.schema) if pt.is_string(field.type)]
        dictionaries = [column.dictionary for column in batch.columns if pt.is_dictionary(column.type)]
        text_bytes = batch.select(texts).get_total_buffer_size()
        text_bytes += sum(dictionary.get_total_buffer_size() for dictionary in dictionaries)
        return cls(batch.num_rows, batch.get_total_buffer_size(), text_bytes)

    def __add__(self, other: _Size) -> _Size:
        return _Size(self.rows + other.rows, self.bytes + other.bytes, self.text_bytes + other.text_bytes)

    @property
    def fits(self) -> bool:
        """Whether so much may be one row group."""
        return self.rows <= MOST_ROWS and self.bytes <= MOST_BYTES and self.text_bytes <= MOST_TEXT_BYTES


class TableWriter:
    """Writes batches of rows, several of them as one row group.

    names: of its columns. rows: written so far. fingerprint: of these.
    """

    def __init__(
        self,
        target: FilePath,
        names: Sequence[str],
        connection: duckdb.DuckDBPyConnection,
        key: bytes | None = None,
    ) -> None:
        self._file, self.names = target.open("wb"), names
        self._open: pq.ParquetWriter | None = None
        self._few: list[bool] = []
        self._waiting: list[pa.RecordBatch] = []
        self._size = _Size()
        self.rows = 0
        self.fingerprint = Fingerprint(names, connection, key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._write_waiting()
        nothing = StoredFields(pa.nulls(0, pa.string()))
        writer = self._open or self._writer(_batch([nothing for _ in self.names]))
        writer.add_key_value_metadata({NAMES_KEY: names_metadata(self.names)})
        writer.close()
        self._file.close()

    def write(self, columns: Sequence[StoredFields]) -> None:
        """columns: of the next rows, in the table's order, the same of them with numbers each time."""
        self._few = self._few or [_has_few(column.texts) for column in columns]
        columns = [
            column if column.numbers is not None else StoredFields(_texts(column.texts, few=few))
            for column, few in zip(columns, self._few, strict=True)
        ]
        batch = _batch(columns)
        self._wait(batch)
        self.rows += batch.num_rows
        self.fingerprint.add(columns)

    def _wait(self, batch: pa.RecordBatch) -> None:
        own = _Size.of(batch)
        if not (self._size + own).fits:
            self._write_waiting()
        self._size += own
        self._waiting.append(batch)

    def _write_waiting(self) -> None:
        """As one row group, each of whose columns has one dictionary at most."""
        if self._waiting:
            self._open = self._open or self._writer(self._waiting[0])
            self._open.write_table(pa.Table.from_batches(self._waiting).unify_dictionaries())
            self._waiting.clear()
            self._size = _Size()

    def _writer(self, first: pa.RecordBatch) -> pq.ParquetWriter:
        names = first.schema.names
        few = [name for name in names if _has_few(first[name])]
        # What `layout` asks of the file; least and greatest values, which nobody asks for, take a fifth of the writing.
        counted = [
            name
            for number in range(len(self.names))
            if plain_name(number) in names
            for name in (text_name(number), otherwise_name(number))
        ]
        # Without Arrow's own schema: what is a dictionary here is none to who reads it.
        return pq.ParquetWriter(
            self._file,
            first.schema,
            compression="snappy",
            use_dictionary=few,
            write_statistics=counted,
            store_schema=False,
        )


def _batch(columns: Sequence[StoredFields]) -> pa.RecordBatch:
    # One for all columns without any: most of numbers have no text, and rows wait in memory to be written.
    none = pa.nulls(len(columns[0].texts) if columns else 0, pa.string())
    fields: dict[pa.Field, pa.Array] = {}
    for number, column in enumerate(columns):
        own = _text_alone(column.texts) if column.numbers is None else _or_none(column.texts, none)
        fields[pa.field(text_name(number), own.type, nullable=column.numbers is not None)] = own
        if column.numbers is not None:
            otherwise = _or_none(column.otherwise, none)
            fields[pa.field(otherwise_name(number), otherwise.type)] = otherwise
            fields[pa.field(plain_name(number), column.numbers.type)] = column.numbers
    return pa.record_batch(list(fields.values()), schema=pa.schema(list(fields)))


def _text_alone(texts: pa.Array) -> pa.Array:
    """The texts of a column that has no numbers beside them, where none is NULL."""
    if not texts.null_count:
        return texts
    if not pt.is_dictionary(texts.type):
        return texts.fill_null("")
    places = texts.indices.fill_null(len(texts.dictionary))
    return pa.DictionaryArray.from_arrays(
        places, pa.concat_arrays([texts.dictionary, pa.array([""], texts.type.value_type)])
    )


def _or_none(texts: pa.Array | None, none: pa.Array) -> pa.Array:
    return none if texts is None or texts.null_count == len(none) else texts


def _has_few(column: pa.Array) -> bool:
    different = pc.count_distinct(column.indices if pt.is_dictionary(column.type) else column).as_py()
    # Of long texts few fit into a batch, and a dictionary that holds each once saves nothing.
    is_saving = 2 * different <= len(column) or column.nbytes <= SHORT_DICTIONARY
    return bool(different <= MOST_IN_DICTIONARY and is_saving)


def _texts(texts: pa.Array, *, few: bool) -> pa.Array:
    """Texts as a dictionary where few differ, else plainly."""
    if pt.is_dictionary(texts.type):
        return texts.cast(pa.dictionary(pa.int32(), pa.string())) if few else texts.dictionary_decode()
    return texts.dictionary_encode() if few else texts
