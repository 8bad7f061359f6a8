"""A Parquet file to a stored table of texts, in batches, counting what they unfold to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dpportal.datasets.rawdata.canonical import as_text, is_text, plain_bytes, plain_numbers
from dpportal.datasets.rawdata.faults import UploadFault, damaged, unfolds_too_far
from dpportal.datasets.rawdata.layout import NAMES_KEY, names_metadata, plain_name, text_name
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.proposals import MOST_TEXTS, proposed_columns, proposed_options
from dpportal.datasets.rawdata.table import Oddities, TableFacts, checked_names

BATCH_ROWS = 16_384
ROW_GROUP_ROWS = 131_072
READ_BUFFER_BYTES = 1 << 20
# Where a text is composed, DuckDB takes it for the text's end: persons and categories would be one that are two.
NUL, REPLACEMENT = "\0", "\ufffd"


@dataclass
class Written:
    """What was stored so far. first: the first texts of each column. takes_nul: whether NUL characters are replaced."""

    rows: int = 0
    replaced: int = 0
    broken: int = 0
    longest: int = 0
    first: list[list[str | None]] = field(default_factory=list)
    takes_nul: bool = False


def convert_parquet(
    source: Path,
    target: Path,
    options: ReadOptions,
    limits: Limits,
    report: Report,
    *,
    is_further: bool = False,
) -> TableFacts:
    """Store a Parquet file's flat columns as texts. is_further: whether NUL characters are replaced, not refused.

    Raises UploadFault for nested columns, for a damaged file, and past a limit.
    """
    # The other allocators reserve address space, which the memory limit would count.
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        schema = pq.ParquetFile(source).schema_arrow
        names = checked_names(schema.names, limits.columns)
        for number, column in enumerate(schema, 1):
            _check_kind(number, column.type)
        written = Written(first=[[] for _ in names], takes_nul=is_further)
        _store(source, target, names, limits, report, written)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None):  # the disk's trouble, not the file's
            raise
        raise damaged("Parquet") from None
    options = proposed_options(written.first, options)
    columns = proposed_columns(names, written.first, options)
    oddities = Oddities(written.replaced, written.broken, written.longest)
    return TableFacts(written.rows, columns, "parquet", options, oddities=oddities)


def _check_kind(number: int, kind: pa.DataType) -> None:
    if pt.is_dictionary(kind):
        return _check_kind(number, kind.value_type)
    single = (
        pt.is_boolean,
        pt.is_integer,
        pt.is_floating,
        pt.is_decimal,
        pt.is_date,
        pt.is_timestamp,
        pt.is_time,
    )
    if not (any(test(kind) for test in single) or is_text(kind) or pt.is_null(kind)):
        raise UploadFault(
            "nested",
            f"Column {number} holds lists, records or another type that has no single value in a row. "
            "Store it as plain columns of text, numbers, dates or booleans, or leave it out.",
            column=number,
        )
    return None


def _is_number(kind: pa.DataType) -> bool:
    return pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)


def _store(
    source: Path, target: Path, names: Sequence[str], limits: Limits, report: Report, written: Written
) -> None:
    schema = pq.ParquetFile(source).schema_arrow
    # Texts stay dictionaries while they are counted: a few bytes in the file can stand for gigabytes.
    texts = [f.name for f in schema if is_text(f.type)]
    numbers = [number for number, f in enumerate(schema) if _is_number(f.type)]
    file = pq.ParquetFile(source, read_dictionary=texts, buffer_size=READ_BUFFER_BYTES, pre_buffer=False)
    stored = pa.schema(
        [pa.field(text_name(number), pa.string()) for number in range(len(names))]
        + [pa.field(plain_name(number), pa.float64()) for number in numbers],
        metadata={NAMES_KEY: names_metadata(names)},
    )
    with pq.ParquetWriter(target, stored, compression="zstd") as writer:
        for batch in _counted(file, limits):
            fields = [_field(column, written, number) for number, column in enumerate(batch.columns)]
            plain = [plain_numbers(fields[number]) for number in numbers]
            writer.write_batch(
                pa.record_batch([*fields, *plain], schema=stored), row_group_size=ROW_GROUP_ROWS
            )
            written.rows += batch.num_rows
            report(written.rows / max(1, file.metadata.num_rows))


def _field(column: pa.Array, written: Written, number: int) -> pa.Array:
    """A column's texts, noting what the curator is told of them.

    Raises UploadFault for one with a NUL character, where these are not replaced.
    """
    found = as_text(column)
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if is_text(kind) and pc.any(pc.match_substring(found.texts, NUL)).as_py():
        if written.takes_nul:
            found = replace(found, texts=pc.replace_substring(found.texts, NUL, REPLACEMENT))
        else:
            raise _nul(number)
    written.replaced += found.replaced
    written.broken += found.broken
    written.longest = max(written.longest, found.longest)
    first = written.first[number]
    first.extend(found.texts[: max(0, MOST_TEXTS - len(first))].to_pylist())
    return found.texts


def _nul(number: int) -> UploadFault:
    return UploadFault(
        "binary",
        f"Column {number + 1} holds a NUL character, which no text has. Store bytes as text, or leave it out.",
        column=number + 1,
    )


def _counted(file: pq.ParquetFile, limits: Limits) -> Iterator[pa.RecordBatch]:
    """The file's batches, each counted before it is unfolded; the footer's sizes are not believed."""
    rows = unfolded = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
        rows += batch.num_rows
        unfolded += sum(map(plain_bytes, batch.columns))
        if rows > limits.rows or unfolded > limits.unfolded_bytes:
            raise unfolds_too_far(limits.unfolded_bytes)
        yield batch
