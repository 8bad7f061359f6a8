"""The directory of a zip archive, which is looked at before anything is unpacked."""

from __future__ import annotations

import zipfile
from typing import BinaryIO

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.faults import UploadFault, damaged

# A record at the archive's end says how long the directory before it is, and a comment of this length may follow.
END, END_BYTES, LONGEST_COMMENT = b"PK\x05\x06", 22, 2**16
LENGTH_AT = 12
# Of archives that may be larger than 4 GB a record before it says that, and a third one where it lies.
LARGE_END, LARGE_END_BYTES, LARGE_LENGTH_AT = b"PK\x06\x06", 56, 40
LOCATOR, LOCATOR_BYTES, PLACE_AT = b"PK\x06\x07", 20, 8
IN_LARGE_END, MOST_BYTES = 2**32 - 1, 2**62
# Of a directory: a part takes a hundred bytes, and a workbook has some dozens.
MOST_DIRECTORY_BYTES = 2**20
UNREADABLE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)


def parts_of(source: FilePath) -> list[zipfile.ZipInfo]:
    """What the directory says of each part.

    Raises UploadFault if it cannot be read, or would take seconds to read.
    """
    if _directory_bytes(source) > MOST_DIRECTORY_BYTES:
        raise UploadFault(
            "unfolds",
            "This file is a zip archive of many thousand parts, which no workbook with a table has. "
            "Save the table as CSV and upload that file.",
        )
    try:
        with source.open("rb") as file, zipfile.ZipFile(file) as archive:
            return archive.infolist()
    except UNREADABLE:
        raise damaged("XLSX") from None


def part_names(source: FilePath) -> set[str]:
    """The parts' names. Raises UploadFault as `parts_of`."""
    return {part.filename for part in parts_of(source)}


def _directory_bytes(source: FilePath) -> int:
    """The directory's length by the archive's last records, by which it is read; 0 where there are none."""
    size = size_of(source)
    with source.open("rb") as file:
        file.seek(max(0, size - LARGE_END_BYTES - LOCATOR_BYTES - END_BYTES - LONGEST_COMMENT))
        tail = file.read()
        # The last record is the file's end, or the last bytes that look like one.
        ends = {len(tail) - END_BYTES, tail.rfind(END)}
        return max(
            (_length(file, tail, at) for at in ends if at >= 0 and tail.startswith(END, at)), default=0
        )


def _length(file: BinaryIO, tail: bytes, end: int) -> int:
    """The directory's length by a last record and the larger one before it, of which readers believe either.

    tail: of the file. end: where the last record begins in it.
    """
    length = _number(tail, end + LENGTH_AT, 4)
    larger = [_number(record, LARGE_LENGTH_AT, 8) for record in _large_ends(file, tail, end)]
    return max(larger) if larger and length == IN_LARGE_END else max([length, *larger])


def _large_ends(file: BinaryIO, tail: bytes, end: int) -> list[bytes]:
    """The records of a large archive: the one before its locator, and the one that the locator names."""
    at = end - LOCATOR_BYTES
    if at < 0 or not tail.startswith(LOCATOR, at):
        return []
    file.seek(min(_number(tail, at + PLACE_AT, 8), MOST_BYTES))
    records = [tail[max(0, at - LARGE_END_BYTES) : at], file.read(LARGE_END_BYTES)]
    return [record for record in records if record.startswith(LARGE_END)]


def _number(record: bytes, at: int, size: int) -> int:
    return int.from_bytes(record[at : at + size], "little")
