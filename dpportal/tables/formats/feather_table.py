"""A Feather file's batches, checked for what lies beyond them, with bytes in place of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.ipc

from dpportal.platform.sealed_files import size_of
from dpportal.tables.formats.arrow_table import BATCH_ROWS, Batches, without_views
from dpportal.tables.formats.column_files import ColumnFiles
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.unchecked_batches import checked

# Bytes of the file for each of its batches from which on it is read by columns. Some programs write a table of any
# length as one batch, which memory need not hold. Of each column it holds pieces of so many rows then.
LONG_BATCH_BYTES, PIECE_ROWS = 2**26, BATCH_ROWS // 8


def open_feather(file: BinaryIO, reading: Reading) -> Batches:
    """Its columns, and its rows in batches. Raises ArrowInvalid for a damaged file."""
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(use_threads=False))
    is_long = size_of(reading.source) > LONG_BATCH_BYTES * reader.num_record_batches
    batches = _by_columns(file, reader.schema, reading) if is_long else _batches(reader)
    return Batches(reader.schema, batches)


def _batches(file: pa.ipc.RecordBatchFileReader) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Each batch in pieces, with the share of the batches that are read once it is."""
    for number in range(file.num_record_batches):
        batch = checked(file.get_batch(number))
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield (number + 1) / file.num_record_batches, batch.slice(start, BATCH_ROWS)


def _by_columns(
    file: BinaryIO, schema: pa.Schema, reading: Reading
) -> Iterator[tuple[float, pa.RecordBatch]]:
    """The rows in pieces, of which memory holds one column of a batch at a time.

    The pieces of each column are written to a file of its own first, which is half of the work.
    """
    with ColumnFiles(reading.target, len(schema)) as files:
        for place, name in enumerate(schema.names):
            reading.report(place / len(schema) / 2)
            files.write(place, map(without_views, _column(file, name)))
        for share, columns in files.pieces():
            yield (1 + share) / 2, pa.record_batch(columns, names=schema.names)


def _column(file: BinaryIO, name: str) -> Iterator[pa.Array]:
    """A column's pieces. The reader of files keeps what it read of one column for ever, that of datasets does not."""
    fragment = ds.IpcFileFormat().make_fragment(pa.PythonFile(file, "r"))
    options = {"use_threads": False, "batch_readahead": 0, "fragment_readahead": 0}
    for batch in fragment.to_batches(columns=[name], batch_size=PIECE_ROWS, **options):
        yield checked(batch).column(0)
