"""Batches of typed columns in which a library has checked nothing yet."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as pt

# Of the same layout: what is no UTF-8 among the bytes is replaced and counted, as in Parquet.
BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}


def checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with bytes in place of texts. Raises ArrowInvalid for what lies beyond it.

    Nothing has looked at its offsets and at places in dictionaries yet: such as lie beyond the batch would be read from
    memory that holds something else. Its values are not judged, since one of them would refuse all.
    """
    for column in batch.columns:
        _viewed(column, _unjudged).validate(full=True)
    columns = [_viewed(column, _as_bytes) for column in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


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
