"""Cuts the table from a file of plain text: titles and notes become blank lines, lines of names become one.

Every line keeps its number, so that messages name the lines of the file itself.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.dialect import CsvDialect, is_nothing
from dpportal.tables.formats.empty_columns import cells_of, named_columns, used_columns
from dpportal.tables.formats.encoding import PlainText
from dpportal.tables.formats.frame import SAMPLE_LINES, is_empty, is_note
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES, ReadOptions


@dataclass
class Cut:
    """A table without what stood around it. notes: left out; note_lines: that they took, blank now."""

    plain: PlainText
    notes: int = 0
    note_lines: int = 0


class Tape:
    """The lines of a file for a reader of records, which are kept until they are taken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE_BYTES):
            self._held.append(line)
            yield line.decode("utf-8", "replace")

    def taken(self) -> list[bytes]:
        """The lines of the record that was read last."""
        held, self._held = self._held, []
        return held


def cut_table(plain: PlainText, target: FilePath, options: ReadOptions, dialect: CsvDialect) -> Cut:
    """Write a plain text file again as a table alone. options: with the lines of titles and names.

    Raises UploadFault for a file that ends before the names.
    """
    cut = Cut(replace(plain, path=target))
    with plain.path.open("rb") as old, target.open("wb") as new:
        for _number in range(max(options.title_lines or 0, dialect.skip)):
            new.write(b"\n" if old.readline() else b"")
        is_wide = _write_names(old, new, options, dialect) if options.header else True
        if options.leaves_out_notes:
            _write_rows(old, new, cut, options, dialect, b"\n" if is_wide else b"")
            cut.plain.lines -= 0 if is_wide else cut.note_lines
            cut.note_lines = cut.note_lines if is_wide else 0
        else:
            shutil.copyfileobj(old, new)
    cut.plain.quoted = True  # names that are joined may hold a delimiter
    return cut


def header_line(lines: Sequence[bytes], dialect: CsvDialect, used: Sequence[int], columns: int) -> bytes:
    """Lines of names as one; used, columns: as `named_columns` takes them.

    Raises UploadFault if they cannot be read.
    """
    try:
        records = list(dialect.records(line.decode("utf-8", "replace") for line in lines))
    except csv.Error:
        raise _no_names(len(lines)) from None
    names = named_columns([cells_of(record) for record in records if record], used, columns)
    line = io.StringIO()
    dialect.writer(line).writerow([names.get(place, "") for place in range(max(map(len, records)))])
    return line.getvalue().encode()


def _write_names(old: BinaryIO, new: BinaryIO, options: ReadOptions, dialect: CsvDialect) -> bool:
    """Whether there are several."""
    line = old.readline()
    while line and is_nothing(line.decode("utf-8", "replace")):
        new.write(b"\n")
        line = old.readline()
    lines = [line, *(old.readline() for _further in range((options.header_lines or 1) - 1))]
    if not lines[-1]:
        raise _no_names((options.title_lines or 0) + (options.header_lines or 1))
    new.write(b"\n" * (len(lines) - 1) + header_line(lines, dialect, _used(old, dialect), 0))
    return any(dialect.delimiter.encode() in line for line in lines)


def _used(old: BinaryIO, dialect: CsvDialect) -> list[int]:
    """The columns in which the first rows say something, which are read again."""
    start = old.tell()
    first = [old.readline(MAX_LINE_BYTES).decode("utf-8", "replace") for _line in range(SAMPLE_LINES)]
    old.seek(start)
    return used_columns([cells_of(line.fields) for line in dialect.numbered(first)])


def _write_rows(
    old: BinaryIO, new: BinaryIO, cut: Cut, options: ReadOptions, dialect: CsvDialect, blank: bytes
) -> None:
    tape = Tape(old)
    try:
        for fields in dialect.records(tape):
            lines = tape.taken()
            if is_empty(fields):
                lines = [b"\n"] * len(lines)
            elif fields and is_note(fields, options):
                cut.notes += 1
                cut.note_lines += len(lines)
                lines = [blank] * len(lines)
            new.writelines(lines)
    except csv.Error:  # whoever reads the table names the line
        new.writelines(tape.taken())
        shutil.copyfileobj(old, new)


def _no_names(line: int) -> UploadFault:
    return UploadFault(
        "names",
        f"This file has no names of columns up to line {line:,}, where they are said to be. "
        "Choose the line that holds them under “How the file is read”.",
        row=line,
    )
