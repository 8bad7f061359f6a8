"""The format of a file, by its content; the name decides only where the content does not."""

from __future__ import annotations

from pathlib import Path

from dpportal.tables.faults import UploadFault
from dpportal.tables.formats import FORMATS, TEXT, TITLES, Format
from dpportal.tables.formats.archives import part_names

SAVE_AS = f"Save the table as {TITLES} and upload that file."
HEAD_BYTES = 16
ZIP = b"PK"
FOREIGN = {
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls) or another old Office file",
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3\0": "an SQLite database",
    b"FEA1": "a Feather file of the first version",
}


def detect_format(source: Path, file_name: str) -> Format:
    """The format of a file. Raises UploadFault for anything that is none of those that are read."""
    if source.stat().st_size == 0:
        raise UploadFault(
            "empty", "This file is empty. Upload a table with a line of column names and its rows."
        )
    with source.open("rb") as file:
        head = file.read(HEAD_BYTES)
    recognised = next((known for known in FORMATS if known.recognises(head, source)), None)
    if recognised:
        return recognised
    _refuse_foreign(head, source)
    suffix = Path(file_name).suffix.lower()
    if any(known.beginning and suffix in known.endings for known in FORMATS):
        raise UploadFault(
            "mismatch", f"This file is named {suffix} but does not begin like such a file. {SAVE_AS}"
        )
    return TEXT


def _refuse_foreign(head: bytes, source: Path) -> None:
    """Raise UploadFault for a file whose first bytes are those of a format that is not read."""
    if head.startswith(ZIP):
        raise _foreign_archive(part_names(source))
    for beginning, what in FOREIGN.items():
        if head.startswith(beginning):
            raise UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")


def _foreign_archive(names: set[str]) -> UploadFault:
    if "xl/workbook.bin" in names or "content.xml" in names:
        what = "a binary Excel workbook (.xlsb) or an OpenDocument file"
        return UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")
    return UploadFault("foreign", f"This file is a zip archive, not a table. Unpack it. {SAVE_AS}")
