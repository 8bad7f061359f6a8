"""Writes a stored table, batch by batch, and notes in the same pass what recognises it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dpportal.datasets.rawdata.fingerprint import Fingerprint
from dpportal.datasets.rawdata.layout import (
    NAMES_KEY,
    StoredFields,
    names_metadata,
    otherwise_name,
    plain_name,
    text_name,
)

# Different values of a column in the first batch, up to which it is written by a dictionary; of more, looking each up
# takes longest.
MOST_IN_DICTIONARY = 10_000


class TableWriter:
    """Writes a row group for each batch. rows: written so far. fingerprint: of these."""

    def __init__(
        self,
        target: Path,
        names: Sequence[str],
        connection: duckdb.DuckDBPyConnection,
        key: bytes | None = None,
    ) -> None:
        self._target, self._names = target, names
        self._open: pq.ParquetWriter | None = None
        self._few: list[bool] = []
        self.rows = 0
        self.fingerprint = Fingerprint(names, connection, key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        nothing = StoredFields(pa.nulls(0, pa.string()))
        writer = self._open or self._writer(_batch([nothing for _ in self._names]))
        writer.add_key_value_metadata({NAMES_KEY: names_metadata(self._names)})
        writer.close()

    def write(self, columns: Sequence[StoredFields]) -> None:
        """columns: of the next rows, in the table's order, the same of them with numbers each time."""
        self._few = self._few or [_has_few(column.texts) for column in columns]
        columns = [
            column if column.numbers is not None else StoredFields(_texts(column.texts, few=few))
            for column, few in zip(columns, self._few, strict=True)
        ]
        batch = _batch(columns)
        self._open = self._open or self._writer(batch)
        self._open.write_batch(batch)
        self.rows += batch.num_rows
        self.fingerprint.add(columns)

    def _writer(self, first: pa.RecordBatch) -> pq.ParquetWriter:
        few = [name for name in first.schema.names if _has_few(first[name])]
        # Without Arrow's own schema: what is a dictionary here is none to who reads it.
        return pq.ParquetWriter(
            self._target, first.schema, compression="snappy", use_dictionary=few, store_schema=False
        )


def _batch(columns: Sequence[StoredFields]) -> pa.RecordBatch:
    fields = {}
    for number, column in enumerate(columns):
        fields[text_name(number)] = column.texts
        if column.numbers is not None:
            fields[otherwise_name(number)] = column.otherwise
            fields[plain_name(number)] = column.numbers
    return pa.record_batch(fields)


def _has_few(column: pa.Array) -> bool:
    different = column.indices if pt.is_dictionary(column.type) else column
    return pc.count_distinct(different).as_py() <= MOST_IN_DICTIONARY


def _texts(texts: pa.Array, *, few: bool) -> pa.Array:
    """By a dictionary where there are few, by themselves where there are many."""
    if pt.is_dictionary(texts.type):
        return texts.cast(pa.dictionary(pa.int32(), pa.string())) if few else texts.dictionary_decode()
    return texts.dictionary_encode() if few else texts
