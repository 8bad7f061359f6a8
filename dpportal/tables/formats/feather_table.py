"""A Feather file's batches, checked for what lies beyond them, with bytes in place of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.ipc

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.arrow_table import BATCH_ROWS, Batches, convert_batches
from dpportal.tables.formats.reader import Format, Reading
from dpportal.tables.formats.unchecked_batches import checked


def convert_feather(known: Format, reading: Reading) -> TableFacts:
    """Store a Feather file's flat columns. Raises UploadFault as `convert_batches`."""
    with reading.source.open("rb") as file:
        return convert_batches(known, reading, lambda: _opened(file))


def _opened(file: BinaryIO) -> Batches:
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(use_threads=False))
    return Batches(reader.schema, _batches(reader))


def _batches(file: pa.ipc.RecordBatchFileReader) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Each batch in pieces, with the share of the batches that are read once it is."""
    for number in range(file.num_record_batches):
        batch = checked(file.get_batch(number))
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield (number + 1) / file.num_record_batches, batch.slice(start, BATCH_ROWS)
