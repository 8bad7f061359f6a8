"""A Parquet file's batches, few rows at a time, in which texts that are shared stay so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.tables.faults import unfolds_too_far
from dpportal.tables.formats.arrow_table import (
    BATCH_BYTES,
    BATCH_FIELDS,
    BATCH_ROWS,
    Batches,
    without_views,
)
from dpportal.tables.formats.column_files import ColumnFiles, cut
from dpportal.tables.formats.parquet_pages import first_pages_bytes
from dpportal.tables.formats.parquet_text import is_text
from dpportal.tables.formats.reader import Reading

READ_BUFFER_BYTES = 1 << 20
# What a writer's dictionary has, a few times over, and what an index has.
DICTIONARY_BYTES, INDEX_BYTES = 1 << 22, 4
# Of the memory of a reading, that the pages may take which all columns hold at once. Some programs write a column as
# one page, which the library unpacks as a whole; of a file of these, memory holds one column's page at a time.
PAGES_SHARE = 1 / 4


def open_parquet(source: BinaryIO, reading: Reading) -> Batches:
    """Its columns, and its rows in batches. Raises ArrowInvalid for a damaged file."""
    footer = pq.ParquetFile(source)
    # Shared texts stay dictionaries while they are counted: a few bytes in the file can stand for gigabytes.
    texts = [
        f.name
        for place, f in enumerate(footer.schema_arrow)
        if is_text(f.type) and _shares_texts(footer.metadata, place)
    ]
    file = pq.ParquetFile(source, read_dictionary=texts, buffer_size=READ_BUFFER_BYTES, pre_buffer=False)
    has_long_pages = first_pages_bytes(source, footer.metadata) > PAGES_SHARE * reading.limits.memory_bytes
    batches = _by_columns(file, reading) if has_long_pages else _batches(file)
    return Batches(footer.schema_arrow, _believed(file.metadata, batches, reading.most_text_bytes))


def _believed(
    footer: pq.FileMetaData, batches: Iterator[tuple[float, pa.RecordBatch]], most: int
) -> Iterator[tuple[float, pa.RecordBatch]]:
    """The batches. What the footer says is believed only where it says too much.

    most: bytes of text to which all may unfold.
    """
    # Each value may be missing, and has a mark behind it all the same.
    if footer.num_rows * max(1, footer.num_columns) > most:
        raise unfolds_too_far(most)
    yield from batches


def _batches(file: pq.ParquetFile) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Each batch, with the share of the rows that are read once it is."""
    rows = 0
    for batch in _of_groups(file, _batch_rows(file.metadata)):
        rows += batch.num_rows
        yield rows / max(1, file.metadata.num_rows), batch


def _by_columns(file: pq.ParquetFile, reading: Reading) -> Iterator[tuple[float, pa.RecordBatch]]:
    """The rows in pieces, of which memory holds one column's page at a time; each column is first written to a file."""
    names, rows = file.schema_arrow.names, _batch_rows(file.metadata)
    with ColumnFiles(reading.target, len(names)) as files:
        for place, name in enumerate(names):
            reading.report(place / len(names) / 2)
            column = (without_views(batch.column(name)) for batch in _of_groups(file, rows, [name]))
            files.write(place, cut(column, rows))
        for share, columns in files.pieces():
            yield (1 + share) / 2, pa.record_batch(columns, names=names)


def _of_groups(file: pq.ParquetFile, rows: int, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """All rows; of each row group by itself, since a dictionary grows from each group to the next."""
    for group in range(file.num_row_groups):
        yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=columns, use_threads=False)


def _shares_texts(footer: pq.FileMetaData, place: int) -> bool:
    """Whether every row group has most of a column's texts as indices into a dictionary.

    A writer whose dictionary is full goes on with the texts themselves, which a reader adds to the dictionary: it would
    hold as much as all rows. They take more room than indices do, and are read as what they are.
    """
    chunks = (footer.row_group(group).column(place) for group in range(footer.num_row_groups))
    return all(
        any("DICTIONARY" in encoding for encoding in chunk.encodings)
        and not any("DELTA" in encoding for encoding in chunk.encodings)
        and chunk.total_uncompressed_size <= DICTIONARY_BYTES + INDEX_BYTES * chunk.num_values
        for chunk in chunks
    )


def _batch_rows(footer: pq.FileMetaData) -> int:
    """Fewer rows of a wide table and of one with long texts, down to one."""
    groups = map(footer.row_group, range(footer.num_row_groups))
    row_bytes = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    together = min(BATCH_ROWS, BATCH_FIELDS // max(1, footer.num_columns), BATCH_BYTES // max(1, row_bytes))
    return int(max(1, together))
