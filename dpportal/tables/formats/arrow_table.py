"""Batches of typed columns to a stored table of texts, counting what they unfold to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dpportal.tables.engines.duckdb.session import connect
from dpportal.tables.facts import Oddities, TableFacts, checked_names
from dpportal.tables.faults import UploadFault, damaged, not_utf8, unfolds_too_far
from dpportal.tables.formats.number_fields import is_number, number_fields
from dpportal.tables.formats.parquet_text import as_text, clean_texts, is_text
from dpportal.tables.formats.reader import Format, Reading
from dpportal.tables.formats.table_writer import TableWriter
from dpportal.tables.formats.text_sizes import text_bytes, text_lengths
from dpportal.tables.layout import StoredFields
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES
from dpportal.tables.proposals import MOST_TEXTS, proposed_columns, proposed_options

# Of what is read and written together, so that memory holds no more however many rows there are.
BATCH_ROWS, BATCH_FIELDS, BATCH_BYTES = 122_880, 2**21, 2**25
# Of the first texts, from which on no further batch adds to them: two thousand can be all texts of a file.
FIRST_CHARACTERS = 2**24
# Where a text is composed, DuckDB takes it for the text's end: persons and categories would be one that are two.
NUL, REPLACEMENT = "\0", "\ufffd"


@dataclass(frozen=True)
class Batches:
    """A file of typed columns that was opened. batches: each with the share of the file that is read once it is."""

    schema: pa.Schema
    batches: Iterator[tuple[float, pa.RecordBatch]]


@dataclass
class Written:
    """What is told of what was stored so far.

    first: the first texts of each column. is_noting: whether more of them are wanted. is_further: see
    `convert_batches`. spoiled: rows that were left out.
    """

    replaced: int = 0
    broken: int = 0
    longest: int = 0
    first: list[list[str | None]] = field(default_factory=list)
    is_noting: bool = True
    is_further: bool = False
    spoiled: int = 0


def convert_batches(known: Format, reading: Reading, opened: Callable[[], Batches]) -> TableFacts:
    """Store the flat columns of a file in which values have types.

    In a further file NUL characters are replaced, and a row with more text than a line may have is left out, lest it
    take the memory of all. opened: opens the file. Raises UploadFault for nested columns, for a damaged file, and past
    a limit.
    """
    try:
        writer, written = _store(reading, opened())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if getattr(error, "errno", None):  # the disk's trouble, not the file's
            raise
        if "Invalid UTF8" in str(error):
            raise not_utf8() from None
        raise damaged(known.titles[0]) from None
    options = proposed_options(written.first, reading.options)
    columns = proposed_columns(writer.names, written.first, options)
    oddities = Oddities(written.replaced, written.broken, written.longest, spoiled_rows=written.spoiled)
    of_rows = writer.fingerprint
    return TableFacts(writer.rows, columns, known.name, options, of_rows.digest, of_rows.sketch, oddities)


def _store(reading: Reading, file: Batches) -> tuple[TableWriter, Written]:
    limits = reading.limits
    names = checked_names(file.schema.names, limits.columns)
    for number, column in enumerate(file.schema, 1):
        _check_kind(number, column.type)
    written = Written(first=[[] for _ in names], is_further=reading.is_further)
    with (
        connect(
            reading.target.parent, reading.target, memory_bytes=limits.engine_bytes, threads=1
        ) as connection,
        TableWriter(reading.target, names, connection, reading.key) as writer,
    ):
        for share, batch in _counted(file.batches, reading.most_text_bytes, written):
            writer.write([_fields(column, written, number) for number, column in enumerate(batch.columns)])
            written.is_noting = written.is_noting and not _is_enough(written.first)
            reading.report(share)
    return writer, written


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


def _fields(column: pa.Array, written: Written, number: int) -> StoredFields:
    """A column of a batch as it is stored."""
    if is_number(column.type):
        _note_first(written, number, lambda few: as_text(column[:few]).texts)
        return number_fields(column)
    texts = _texts(column, written, number)
    _note_first(written, number, lambda few: texts[:few])
    return StoredFields(texts)


def _note_first(written: Written, number: int, texts: Callable[[int], pa.Array]) -> None:
    if written.is_noting:
        first = written.first[number]
        first.extend(texts(MOST_TEXTS - len(first)).to_pylist())


def _is_enough(first: list[list[str | None]]) -> bool:
    characters = sum(len(text or "") for texts in first for text in texts)
    return len(first[0]) >= MOST_TEXTS or characters > FIRST_CHARACTERS


def _texts(column: pa.Array, written: Written, number: int) -> pa.Array:
    """A column's texts, noting what the curator is told of them.

    Raises UploadFault for one with a NUL character, where these are not replaced.
    """
    if not pt.is_dictionary(column.type) and not pt.is_null(column.type):
        column = column.dictionary_encode()
    if pt.is_dictionary(column.type) and (different := clean_texts(column.dictionary)) is not None:
        return pa.DictionaryArray.from_arrays(column.indices, different)
    read = as_text(column)
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if is_text(kind) and pc.any(pc.match_substring(read.texts, NUL)).as_py():
        if written.is_further:
            read = replace(read, texts=pc.replace_substring(read.texts, NUL, REPLACEMENT))
        else:
            raise _nul(number)
    written.replaced += read.replaced
    written.broken += read.broken
    written.longest = max(written.longest, read.longest)
    return read.texts


def _nul(number: int) -> UploadFault:
    return UploadFault(
        "binary",
        f"Column {number + 1} holds a NUL character, which no text has. Store bytes as text, or leave it out.",
        column=number + 1,
    )


def _counted(
    batches: Iterator[tuple[float, pa.RecordBatch]], most: int, written: Written
) -> Iterator[tuple[float, pa.RecordBatch]]:
    """The batches, each counted before it is unfolded, in parts that memory can hold when they are.

    most: bytes of text to which all may unfold, each value with a mark between it and the next as in a CSV file.
    """
    unfolded = 0
    for share, read in batches:
        batch = pa.record_batch(list(map(without_views, read.columns)), names=read.schema.names)
        batch = _without_long_rows(batch) if written.is_further else batch
        written.spoiled += read.num_rows - batch.num_rows
        size = batch.num_rows * max(1, batch.num_columns)
        if unfolded + size <= most:
            size += sum(map(text_bytes, batch.columns))
        unfolded += size
        if unfolded > most:
            raise unfolds_too_far(most)
        rows = max(1, min(BATCH_ROWS, batch.num_rows * BATCH_BYTES // max(BATCH_BYTES, size)))
        for start in range(0, batch.num_rows, rows):
            yield share, batch.slice(start, rows)


def without_views(column: pa.Array) -> pa.Array:
    """A column with a dictionary in place of views, which Arrow can neither measure nor filter."""
    if pt.is_string_view(column.type) or pt.is_binary_view(column.type):
        column = column.dictionary_encode()
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if pt.is_string_view(kind) or pt.is_binary_view(kind):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.binary()), safe=False)
    return column


def _without_long_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows whose texts would fit on a line; told by lengths alone, before any text is copied."""
    lengths = [size for column in batch.columns if (size := text_lengths(column)) is not None]
    if sum(pc.max(size).as_py() or 0 for size in lengths) <= MAX_LINE_BYTES:
        return batch
    together = np.sum([size.to_numpy(zero_copy_only=False) for size in lengths], axis=0)
    return batch.filter(pa.array(together <= MAX_LINE_BYTES))
