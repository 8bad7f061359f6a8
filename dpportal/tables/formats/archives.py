"""The directory of a zip archive, which is looked at before anything is unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

from dpportal.tables.faults import UploadFault, damaged

# A record at the archive's end says how long the directory before it is, and a comment of this length may follow.
END, END_BYTES, LONGEST_COMMENT = b"PK\x05\x06", 22, 2**16
LENGTH_AT = 12
# Of a directory: a part takes a hundred bytes, and a workbook has some dozens.
MOST_DIRECTORY_BYTES = 2**20
UNREADABLE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)


def parts_of(source: Path) -> list[zipfile.ZipInfo]:
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
        with zipfile.ZipFile(source) as archive:
            return archive.infolist()
    except UNREADABLE:
        raise damaged("XLSX") from None


def part_names(source: Path) -> set[str]:
    """The parts' names. Raises UploadFault as `parts_of`."""
    return {part.filename for part in parts_of(source)}


def _directory_bytes(source: Path) -> int:
    """The directory's length by the archive's last record, by which it is read; 0 where there is no such record."""
    size = source.stat().st_size
    with source.open("rb") as file:
        file.seek(max(0, size - END_BYTES - LONGEST_COMMENT))
        tail = file.read()
    at = tail.rfind(END)
    return int.from_bytes(tail[at + LENGTH_AT : at + LENGTH_AT + 4], "little") if at >= 0 else 0
