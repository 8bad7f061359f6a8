"""A Parquet file to a stored table, in batches, counting what they unfold to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dpportal.datasets.rawdata.faults import UploadFault, damaged, unfolds_too_far
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.table import Column, Kind, checked_names

BATCH_ROWS = 16_384
ROW_GROUP_ROWS = 131_072
READ_BUFFER_BYTES = 1 << 20
ARROW_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "real": pa.float64(),
    "date": pa.date32(),
    "boolean": pa.bool_(),
}


def convert_parquet(
    source: Path, target: Path, options: ReadOptions, limits: Limits, report: Report
) -> tuple[tuple[Column, ...], int]:
    """Store a Parquet file's flat columns; returns them and the number of rows.

    Raises UploadFault for nested columns, for a damaged file, and past a limit.
    """
    # The other allocators reserve address space, which the memory limit would count.
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        columns = _columns(pq.ParquetFile(source).schema_arrow, limits)
        return columns, _store(source, target, columns, options, limits, report)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None):  # the disk's trouble, not the file's
            raise
        raise damaged("Parquet") from None


def _columns(schema: pa.Schema, limits: Limits) -> tuple[Column, ...]:
    names = checked_names(schema.names, limits.columns)
    kinds = tuple(_kind(number, field.type) for number, field in enumerate(schema, 1))
    return tuple(map(Column, names, kinds))


def _kind(number: int, kind: pa.DataType) -> Kind:
    if pt.is_dictionary(kind):
        return _kind(number, kind.value_type)
    if pt.is_boolean(kind):
        return "boolean"
    if pt.is_integer(kind) or (pt.is_decimal(kind) and kind.scale == 0 and kind.precision <= 18):
        return "integer"
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return "real"
    if pt.is_date(kind) or pt.is_timestamp(kind):
        return "date"
    if _is_text(kind) or pt.is_null(kind):
        return "text"
    raise UploadFault(
        "nested",
        f"Column {number} holds lists, records or another type that has no single value in a row. "
        "Store it as plain columns of text, numbers, dates or booleans, or leave it out.",
        column=number,
    )


def _is_text(kind: pa.DataType) -> bool:
    tests = (pt.is_string, pt.is_large_string, pt.is_string_view, pt.is_binary, pt.is_large_binary)
    return any(test(kind) for test in tests)


def _store(
    source: Path,
    target: Path,
    columns: tuple[Column, ...],
    options: ReadOptions,
    limits: Limits,
    report: Report,
) -> int:
    schema = pa.schema([pa.field(column.name, ARROW_TYPES[column.kind]) for column in columns])
    missing = pa.array(["", *options.missing], pa.string())
    # Texts stay dictionaries while they are counted: a few bytes in the file can stand for gigabytes.
    texts = [f.name for f in pq.ParquetFile(source).schema_arrow if _is_text(f.type)]
    file = pq.ParquetFile(source, read_dictionary=texts, buffer_size=READ_BUFFER_BYTES, pre_buffer=False)
    rows = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for batch in _counted(file, limits):
            arrays = [
                _stored(number, array, column.kind, missing)
                for number, (array, column) in enumerate(zip(batch.columns, columns, strict=True), 1)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=ROW_GROUP_ROWS)
            rows += batch.num_rows
            report(rows, file.metadata.num_rows)
    return rows


def _counted(file: pq.ParquetFile, limits: Limits) -> Iterator[pa.RecordBatch]:
    """The file's batches, each counted before it is unfolded; the footer's sizes are not believed."""
    rows = unfolded = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
        rows += batch.num_rows
        unfolded += sum(map(_plain_bytes, batch.columns))
        if rows > limits.rows or unfolded > limits.unfolded_bytes:
            raise unfolds_too_far(limits.unfolded_bytes)
        yield batch


def _plain_bytes(array: pa.Array) -> int:
    """Bytes of an array's values when none is shared."""
    if not (pt.is_dictionary(array.type) and _is_text(array.type.value_type)):
        return array.nbytes
    lengths = pc.binary_length(array.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(array.indices)).as_py() or 0


def _stored(number: int, array: pa.Array, kind: Kind, missing: pa.Array) -> pa.Array:
    if pt.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        if kind == "text":
            text = array.cast(pa.string())
            return pc.if_else(pc.is_in(text, value_set=missing), pa.scalar(None, pa.string()), text)
        if kind == "real" and pt.is_floating(array.type) and array.type != pa.float64():
            # By its decimal digits: 0.7 stored in 32 bits means 0.7, not 0.699999988.
            return array.cast(pa.string()).cast(pa.float64())
        # A timestamp loses its time of day on purpose; a number must fit.
        return array.cast(ARROW_TYPES[kind], safe=kind == "integer")
    except pa.ArrowInvalid:
        raise UploadFault(
            "value",
            f"Column {number} holds values that cannot be stored: bytes that are not UTF-8 text, or whole "
            "numbers above 9,223,372,036,854,775,807. Store the column as text, or leave it out.",
            column=number,
        ) from None
