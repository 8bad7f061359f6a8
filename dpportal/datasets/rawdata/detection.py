"""What a file is, told by its content; its name only settles what the content leaves open."""

from __future__ import annotations

import zipfile
from pathlib import Path

from dpportal.datasets.rawdata.faults import UploadFault, damaged
from dpportal.datasets.rawdata.options import Format

SAVE_AS = "Save the table as CSV, Parquet or XLSX and upload that file."
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
    b"ARROW1\0\0": "an Arrow or Feather file",
}


def detect_format(source: Path, file_name: str) -> Format:
    """The format of a file. Raises UploadFault for anything that is not one of the three."""
    if source.stat().st_size == 0:
        raise UploadFault(
            "empty", "This file is empty. Upload a table with a line of column names and its rows."
        )
    with source.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK"):
        return _zip_format(source)
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")
    suffix = Path(file_name).suffix.lower()
    if suffix in (".parquet", ".xlsx"):
        raise UploadFault(
            "mismatch", f"This file is named {suffix} but does not begin like such a file. {SAVE_AS}"
        )
    return "csv"


def _zip_format(source: Path) -> Format:
    try:
        with zipfile.ZipFile(source) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise damaged("XLSX") from None
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names or "content.xml" in names:
        what = "a binary Excel workbook (.xlsb) or an OpenDocument file"
        raise UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")
    raise UploadFault("foreign", f"This file is a zip archive, not a table. Unpack it. {SAVE_AS}")
