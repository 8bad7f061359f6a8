"""A Feather file's batches, checked for what lies beyond them, with bytes in place of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.ipc
import pyarrow.types as pt

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.arrow_table import BATCH_ROWS, Batches, convert_batches
from dpportal.tables.formats.reader import Format, Reading

# Of the same layout: what is no UTF-8 among the bytes is replaced and counted, as in Parquet.
BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}


def convert_feather(known: Format, reading: Reading) -> TableFacts:
    """Store a Feather file's flat columns. Raises UploadFault as `convert_batches`."""
    with pa.OSFile(str(reading.source)) as file:
        return convert_batches(known, reading, lambda: _opened(file))


def _opened(file: pa.OSFile) -> Batches:
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(use_threads=False))
    return Batches(reader.schema, _batches(reader))


def _batches(file: pa.ipc.RecordBatchFileReader) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Each batch in pieces, with the share of the batches that are read once it is.

    Nothing has looked at its offsets and at places in dictionaries yet: such as lie beyond the batch would be read from
    memory that holds something else. Its values are not judged, since one of them would refuse all.
    """
    for number in range(file.num_record_batches):
        batch = file.get_batch(number)
        for column in batch.columns:
            _viewed(column, _unjudged).validate(full=True)
        columns = [_viewed(column, _as_bytes) for column in batch.columns]
        checked = pa.record_batch(columns, names=batch.schema.names)
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield (number + 1) / file.num_record_batches, checked.slice(start, BATCH_ROWS)


def _viewed(column: pa.Array, kind: Callable[[pa.DataType], pa.DataType]) -> pa.Array:
    """The column, or the values of its dictionary, taken for those of another type with the same layout."""
    if pt.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _viewed(column.dictionary, kind), safe=False)
    return column.view(kind(column.type))


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    return BYTES.get(kind, kind)


def _unjudged(kind: pa.DataType) -> pa.DataType:
    """A type of which any bytes are a value, where Arrow's check would refuse, say, a time beyond a day."""
    judged = pt.is_date64(kind) or pt.is_time(kind) or pt.is_decimal(kind)
    return pa.binary(kind.bit_width // 8) if judged else _as_bytes(kind)
