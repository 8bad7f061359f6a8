"""The format of an upload, by its content where that says it; that of a further file, by what no row of it decides."""

from __future__ import annotations

import re
from pathlib import Path

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats import FORMATS, TEXT, TITLES, Format
from dpportal.tables.formats.archives import part_names
from dpportal.tables.formats.packed import packed_as

SAVE_AS = f"Save the table as {TITLES} and upload that file."
HEAD_BYTES = 16
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# As long as formats have them: a table of text may begin with the same letters, such as a column “PKEY”.
FOREIGN = {
    rb"\x1f\x8b": "a gzip archive",
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "a bzip2 archive",
    rb"\xfd7zXZ\0": "an xz archive",
    rb"7z\xbc\xaf": "a 7-Zip archive",
    rb"\x28\xb5\x2f\xfd": "a zstd archive",
    rb"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls) or another old Office file",
    rb"%PDF-\d\.\d\s": "a PDF document",
    rb"\x89PNG": "a picture",
    rb"\xff\xd8\xff": "a picture",
    rb"SQLite format 3\0": "an SQLite database",
    rb"FEA1\0\0\0\0": "a Feather file of the first version",
}


def detect_format(source: FilePath, file_name: str) -> Format:
    """The format of an upload: the name decides only where the content does not.

    Raises UploadFault for anything that is none of those that are read.
    """
    head = _head(source)
    recognised = next((known for known in FORMATS if known.recognises(head, source)), None)
    if recognised:
        return recognised
    _refuse_foreign(head, source)
    if known := _named(file_name):
        _refuse_other(known)
    return TEXT


def further_format(source: FilePath, file_name: str, own: str, *, has_names: bool) -> Format:
    """The format of a further file: what the ending of its name says, else that of the dataset's own file.

    Its first bytes can be a person's row, so they decide nothing. A packed file begins alike whatever its rows are.
    own: of the dataset. has_names: whether the first line is declared to hold names, and so is nobody's row.
    Raises UploadFault for a file without bytes, for text where a packed file is due, and for a packed file where names
    are due. Where none are, a person's row could begin like a packed file, so its lines are rows, spoiled ones.
    """
    head = _head(source)
    of_dataset = next((known for known in FORMATS if known.name == own), TEXT)
    known = _named(file_name) or of_dataset
    if not known.recognises(head, source):
        _refuse_other(known)
    if known is TEXT and has_names:
        _refuse_packed(source)
    return known


def _named(file_name: str) -> Format | None:
    suffix = Path(file_name).suffix.lower()
    return next((known for known in FORMATS if suffix in known.endings), None)


def _head(source: FilePath) -> bytes:
    """The first bytes. Raises UploadFault if there are none."""
    if size_of(source) == 0:
        raise UploadFault(
            "empty", "This file is empty. Upload a table with a line of column names and its rows."
        )
    with source.open("rb") as file:
        return file.read(HEAD_BYTES)


def _refuse_other(known: Format) -> None:
    """Raise UploadFault for a file that its name says to be of a format, and that does not begin like one."""
    if known.beginning:
        raise UploadFault(
            "mismatch",
            f"By its name, or like the dataset's own file, this should be {known.titles[0]}, but it does not begin "
            f"like such a file. {SAVE_AS}",
        )


def _refuse_packed(source: FilePath) -> None:
    """Raise UploadFault for a file that is packed as a whole, and that its name says to be text."""
    if what := packed_as(source):
        raise UploadFault(
            "mismatch",
            "By its name, or like the dataset's own file, this should be a text file with a row on each line, but it "
            f"is {what}. Nothing was counted. Unpack it, or give it the ending of its format, and send it again.",
        )


def _refuse_foreign(head: bytes, source: FilePath) -> None:
    """Raise UploadFault for a file whose first bytes are those of a format that is not read."""
    if head.startswith(ZIP):
        raise _foreign_archive(part_names(source))
    for beginning, what in FOREIGN.items():
        if re.match(beginning, head):
            raise UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")


def _foreign_archive(names: set[str]) -> UploadFault:
    if "xl/workbook.bin" in names or "content.xml" in names:
        what = "a binary Excel workbook (.xlsb) or an OpenDocument file"
        return UploadFault("foreign", f"This file is {what}, which is not read here. {SAVE_AS}")
    return UploadFault("foreign", f"This file is a zip archive, not a table. Unpack it. {SAVE_AS}")
