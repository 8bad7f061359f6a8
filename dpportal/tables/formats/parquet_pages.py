"""How large the pages of a Parquet file are, which no footer says: each column's first page says it of itself."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow.parquet as pq

# A page's header begins with three numbers: its kind, its bytes unpacked, and its bytes in the file. As Thrift writes
# them each is the mark of a number in the next field, and 7 bits to a byte, the lowest first.
NUMBER, NUMBERS, MOST_HEADER_BYTES = 0x15, 3, 20


def first_pages_bytes(source: BinaryIO, footer: pq.FileMetaData) -> int:
    """Bytes that the first pages of all columns of a row group take together, packed and unpacked; of the largest."""
    place = source.tell()
    try:
        groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
        return max((_of_group(source, group) for group in groups), default=0)
    finally:
        source.seek(place)


def _of_group(source: BinaryIO, group: pq.RowGroupMetaData) -> int:
    total = 0
    for place in range(group.num_columns):
        source.seek(max(0, group.column(place).data_page_offset))
        total += sum(_sizes(source.read(MOST_HEADER_BYTES)))
    return total


def _sizes(header: bytes) -> tuple[int, int]:
    """A page's bytes, unpacked and in the file; none of what is no page."""
    numbers: list[int] = []
    at = 0
    while len(numbers) < NUMBERS and header[at : at + 1] == bytes([NUMBER]):
        value, shift, at = 0, 0, at + 1
        while at < len(header) and header[at] & 0x80:
            value |= (header[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
        value |= (header[at] if at < len(header) else 0) << shift
        numbers.append(value >> 1)
        at += 1
    return (numbers[1], numbers[2]) if len(numbers) == NUMBERS else (0, 0)
