"""A Parquet file to a stored table of texts, in batches, counting what they unfold to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from dpportal.datasets.rawdata.canonical import as_text, clean_texts, is_text, text_bytes
from dpportal.datasets.rawdata.engine import connect
from dpportal.datasets.rawdata.faults import UploadFault, damaged, not_utf8, unfolds_too_far
from dpportal.datasets.rawdata.layout import StoredFields
from dpportal.datasets.rawdata.number_fields import is_number, number_fields
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.proposals import MOST_TEXTS, proposed_columns, proposed_options
from dpportal.datasets.rawdata.table import Oddities, TableFacts, checked_names
from dpportal.datasets.rawdata.table_writer import TableWriter

# Of what is read and written together, so that memory holds no more however many rows there are.
BATCH_ROWS, BATCH_FIELDS, BATCH_BYTES, FEWEST_ROWS = 122_880, 2**21, 2**25, 256
READ_BUFFER_BYTES = 1 << 20
# Where a text is composed, DuckDB takes it for the text's end: persons and categories would be one that are two.
NUL, REPLACEMENT = "\0", "\ufffd"


@dataclass
class Written:
    """What is told of what was stored so far.

    first: the first texts of each column. takes_nul: whether NUL characters are replaced.
    """

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
    key: bytes | None = None,
    *,
    is_further: bool = False,
) -> TableFacts:
    """Store a Parquet file's flat columns.

    key: of its sketch. is_further: whether NUL characters are replaced, not refused.
    Raises UploadFault for nested columns, for a damaged file, and past a limit.
    """
    try:
        schema = pq.ParquetFile(source).schema_arrow
        names = checked_names(schema.names, limits.columns)
        for number, column in enumerate(schema, 1):
            _check_kind(number, column.type)
        written = Written(first=[[] for _ in names], takes_nul=is_further)
        with (
            connect(target.parent, memory_bytes=limits.engine_bytes, threads=1) as connection,
            TableWriter(target, names, connection, key) as writer,
        ):
            _store(source, writer, limits, report, written)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None):  # the disk's trouble, not the file's
            raise
        if "Invalid UTF8" in str(error):
            raise not_utf8() from None
        raise damaged("Parquet") from None
    options = proposed_options(written.first, options)
    columns = proposed_columns(names, written.first, options)
    oddities = Oddities(written.replaced, written.broken, written.longest)
    found = writer.fingerprint
    return TableFacts(writer.rows, columns, "parquet", options, found.digest, found.sketch, oddities)


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


def _store(source: Path, writer: TableWriter, limits: Limits, report: Report, written: Written) -> None:
    opened, size = pq.ParquetFile(source), source.stat().st_size
    # Texts stay dictionaries while they are counted: a few bytes in the file can stand for gigabytes.
    texts = [
        f.name
        for place, f in enumerate(opened.schema_arrow)
        if is_text(f.type) and not _has_deltas(opened.metadata, place)
    ]
    file = pq.ParquetFile(source, read_dictionary=texts, buffer_size=READ_BUFFER_BYTES, pre_buffer=False)
    for batch in _counted(file, limits.unfolded_from(size)):
        writer.write([_fields(column, written, number) for number, column in enumerate(batch.columns)])
        report(writer.rows / max(1, file.metadata.num_rows))


def _fields(column: pa.Array, written: Written, number: int) -> StoredFields:
    """A column of a batch as it is stored."""
    if is_number(column.type):
        _note_first(written, number, lambda few: as_text(column[:few]).texts)
        return number_fields(column)
    texts = _texts(column, written, number)
    _note_first(written, number, lambda few: texts[:few])
    return StoredFields(texts)


def _note_first(written: Written, number: int, texts: Callable[[int], pa.Array]) -> None:
    first = written.first[number]
    if len(first) < MOST_TEXTS:
        first.extend(texts(MOST_TEXTS - len(first)).to_pylist())


def _texts(column: pa.Array, written: Written, number: int) -> pa.Array:
    """A column's texts, noting what the curator is told of them.

    Raises UploadFault for one with a NUL character, where these are not replaced.
    """
    if not pt.is_dictionary(column.type) and not pt.is_null(column.type):
        column = column.dictionary_encode()
    if pt.is_dictionary(column.type) and (different := clean_texts(column.dictionary)) is not None:
        return pa.DictionaryArray.from_arrays(column.indices, different)
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
    return found.texts


def _nul(number: int) -> UploadFault:
    return UploadFault(
        "binary",
        f"Column {number + 1} holds a NUL character, which no text has. Store bytes as text, or leave it out.",
        column=number + 1,
    )


def _counted(file: pq.ParquetFile, most: int) -> Iterator[pa.RecordBatch]:
    """The file's batches, each counted before it is unfolded, in parts that memory can hold when they are.

    most: bytes of text to which all may unfold, each value with a mark between it and the next as in a CSV file.
    What the footer says is believed only where it says too much.
    """
    columns = max(1, file.metadata.num_columns)
    unfolded = 0
    if file.metadata.num_rows * columns > most:
        raise unfolds_too_far(most)
    for batch in file.iter_batches(batch_size=_batch_rows(file.metadata), use_threads=False):
        size = batch.num_rows * columns + sum(map(text_bytes, batch.columns))
        unfolded += size
        if unfolded > most:
            raise unfolds_too_far(most)
        rows = max(1, batch.num_rows * BATCH_BYTES // max(BATCH_BYTES, size))
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def _has_deltas(footer: pq.FileMetaData, place: int) -> bool:
    """Whether texts lie as differences from the one before, which no reader turns into a dictionary."""
    chunks = (footer.row_group(group).column(place) for group in range(footer.num_row_groups))
    return any("DELTA" in encoding for chunk in chunks for encoding in chunk.encodings)


def _batch_rows(footer: pq.FileMetaData) -> int:
    """Fewer rows of a wide table and of one with long texts."""
    groups = map(footer.row_group, range(footer.num_row_groups))
    row_bytes = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    together = min(BATCH_ROWS, BATCH_FIELDS // max(1, footer.num_columns), BATCH_BYTES // max(1, row_bytes))
    return max(FEWEST_ROWS, together)
