"""Finds the broken row of a text file that could not be read, and what is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.dialect import CsvDialect, long_line
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES


def refuse_broken_record(path: FilePath, dialect: CsvDialect, width: int) -> None:
    """Raise the UploadFault of the first record that has not `width` fields or does not close its quotes, if any."""
    row = dialect.skip
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        records = dialect.records(_lines(file, dialect.skip), strict=True)
        try:
            for row, record in enumerate(records, dialect.skip + 1):
                if record and not fits(record, width):
                    raise _ragged(row, len(record), width)
        except csv.Error as error:
            raise _broken_quotes(row + 1, error) from None


def unreadable() -> UploadFault:
    """The refusal where no single row is at fault."""
    return UploadFault(
        "unreadable",
        "This file could not be read as a table, and no single row explains it. "
        "Check delimiter and encoding, or save the table as CSV again.",
    )


def fits(record: list[str], width: int) -> bool:
    """Whether a record is as wide as the header; one empty field more is a delimiter at the line's end."""
    return len(record) == width or (len(record) == width + 1 and record[-1] == "")


def _lines(file: TextIO, skip: int) -> Iterator[str]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise long_line(number)
        if number > skip:
            yield line


def _ragged(row: int, fields: int, width: int) -> UploadFault:
    return UploadFault(
        "ragged",
        f"Row {row:,} has {_fields(fields)} where the first row has {_fields(width)}. "
        "Correct that row (a delimiter inside a value needs quotation marks around the value) "
        "or choose another delimiter. If it is a note and no row, say so under “How the file is read”.",
        row=row,
    )


def _broken_quotes(row: int, error: csv.Error) -> UploadFault:
    if "expected after" in str(error):  # the reader's own fixed words
        wrong = "has text after a closing quotation mark"
    else:
        wrong = "opens a quotation mark and does not close it"
    return UploadFault(
        "quotes",
        f"Row {row:,} {wrong}. Correct that row; a quotation mark inside a quoted value is written twice.",
        row=row,
    )


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count:,} fields"
