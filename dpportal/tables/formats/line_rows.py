"""A text file in which each line is a row by itself: a fault of a line spoils that line and no other.

An upload is read as CSV is: a quotation mark that is not closed joins lines up to the next one. Its curator sees that,
and nothing is counted before they agree. A further file of the same table is counted as it comes, so that nobody's row
may decide how another's is read, or whether the file is read at all. In it a field cannot hold a line end: such a row
is two lines or more, each of which is left out unless it is a row itself. Parquet and XLSX know no lines.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.facts import Oddities, TableFacts, is_nameless
from dpportal.tables.faults import no_rows
from dpportal.tables.formats.csv_table import convert_csv, unnamed
from dpportal.tables.formats.dialect import SEPARATOR_LINE, CsvDialect, is_nothing
from dpportal.tables.formats.encoding import plain_text, settled_encoding
from dpportal.tables.formats.frame import is_empty, is_note
from dpportal.tables.formats.progress import part
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.row_errors import fits, unreadable
from dpportal.tables.formats.table_cut import header_line
from dpportal.tables.meaning.number_syntax import SPACES
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES, ReadOptions

NUL = b"\0"
# The share of the work that is done once the lines are read.
COPIED = 0.3


@dataclass
class LineRows:
    """What was copied. rows: lines that are rows. spoiled: lines that are none, and are left out. blank: of nothing.

    notes: lines that are declared to be no rows.
    """

    rows: int = 0
    spoiled: int = 0
    blank: int = 0
    notes: int = 0

    def oddities(self) -> Oddities:
        return Oddities(blank_rows=self.blank, spoiled_rows=self.spoiled, note_lines=self.notes)


@dataclass
class LineReader:
    """Reads a line by its own text. options: settled. width: of a row; with a header, of that.

    nameless: fields of columns without a name, in which a row says nothing.
    """

    options: ReadOptions
    width: int
    dialect: CsvDialect = field(init=False)
    nameless: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.dialect = CsvDialect(str(self.options.delimiter), self.options.quote, 0)

    def row(self, line: bytes) -> bytes | None:
        """The line without an empty field after the last column, None if it is no row of this width."""
        # The engine counts the line's end, too.
        if len(line) >= MAX_LINE_BYTES or NUL in line:
            return None
        delimiter = self.dialect.delimiter.encode()
        if self.dialect.quote and self.dialect.quote.encode() in line:
            fields = self.fields(line)
            wide, closed = len(fields or ()), fields is not None and fits(fields, self.width)
        else:
            wide = line.count(delimiter) + 1
            closed = wide == self.width or (
                wide == self.width + 1 and not line.rpartition(delimiter)[2].strip(b" ")
            )
        if not closed or self._says_more(line):
            return None
        return line if wide == self.width else line.rpartition(delimiter)[0]

    def _says_more(self, line: bytes) -> bool:
        """Whether a column without a name has a value in it."""
        fields = self.fields(line) if self.nameless else None
        return any(fields[place].strip(SPACES) for place in self.nameless) if fields else False

    def is_blank(self, line: bytes) -> bool:
        """Whether the line says nothing. One of delimiters alone does where some lines are declared to be no rows."""
        if self.width == 1 or not line:  # of a table of one column it is a missing value, as in an upload
            return self.width > 1
        return self.options.leaves_out_notes and is_empty(self.fields(line) or ())

    def is_note(self, line: bytes) -> bool:
        """Whether the line is declared to be no row; one that cannot be read is none either, but spoiled."""
        fields = self.fields(line) if self.options.leaves_out_notes else None
        return fields is not None and bool(fields) and is_note(fields, self.options)

    def fields(self, line: bytes) -> list[str] | None:
        """None for a line whose quotation marks do not close, or close before a field's end."""
        try:
            [fields] = self.dialect.records([line.decode(errors="replace")], strict=True)
        except (csv.Error, ValueError):
            return None
        return fields


def convert_lines(reading: Reading) -> TableFacts:
    """Store a further file of text. Raises UploadFault as `copy_rows`, and for a file without any line."""
    target, report = reading.target, reading.report
    encoding = settled_encoding(reading.source, reading.options.encoding)
    lines, rows = target.with_name("lines.csv"), target.with_name("rows.csv")
    plain = plain_text(reading.source, lines, encoding, part(report, 0, COPIED), takes_nul=True)
    copied = copy_rows(plain.path, rows, reading.options, reading.further_columns)
    lines.unlink(missing_ok=True)
    if not (size_of(rows) if reading.options.header else copied.rows):
        raise no_rows()
    options = replace(reading.options, encoding="utf-8", header=True).unframed()
    again = replace(
        reading, source=rows, file_name=rows.name, options=options, report=part(report, COPIED, 1)
    )
    read = convert_csv(again, from_sheet=True)
    rows.unlink()
    oddities = replace(copied.oddities(), replaced_bytes=plain.replaced)
    resolved = replace(read.options, encoding=encoding, header=reading.options.header)
    resolved = resolved.framed_like(reading.options)
    return replace(read, options=resolved, oddities=oddities)


def copy_rows(plain: FilePath, target: FilePath, options: ReadOptions, columns: int) -> LineRows:
    """Copy a plain text file's names and those of its lines that are rows; where it has no names, a line of such.

    Whatever row comes first would else say where the table begins.
    options: settled. columns: of the table, for a file without names. Raises UploadFault for names that cannot be read.
    """
    copied, reader = LineRows(), LineReader(options, columns)
    with plain.open("rb") as old, target.open("wb") as new:
        lines: Iterator[bytes] = islice(_lines(old), options.title_lines or 0, None)
        if options.header:
            lines = _from_the_first(lines)
            _copy_names(lines, new, reader)
        else:
            new.write(reader.dialect.delimiter.join(unnamed(columns)).encode() + b"\n")
        for line in lines:
            if reader.is_blank(line):
                copied.blank += 1
            elif reader.is_note(line):
                copied.notes += 1
            elif not options.header and _is_separator(line):
                # Wherever it stands: were it none at the top alone, other rows would decide that.
                copied.spoiled += 1
            elif (row := reader.row(line)) is not None:
                copied.rows += 1
                new.write(row + b"\n")
            else:
                copied.spoiled += 1
    return copied


def _copy_names(lines: Iterator[bytes], new: BinaryIO, reader: LineReader) -> None:
    """Copy the names, in one line; they say how wide a row is."""
    names = list(islice(lines, reader.options.header_lines or 1))
    if not names:
        return
    line = names[0] if len(names) == 1 else _joined(names, reader)
    fields = reader.fields(line)
    if fields is None:
        raise unreadable()
    if len(fields) > 1 and is_nameless(fields[-1]):
        # As rows that end with a delimiter.
        line, fields = line.rpartition(reader.dialect.delimiter.encode())[0], fields[:-1]
    reader.width = len(fields)
    reader.nameless = tuple(place for place, name in enumerate(fields) if is_nameless(name))
    new.write(line + b"\n")


def _joined(lines: list[bytes], reader: LineReader) -> bytes:
    return header_line([line + b"\n" for line in lines], reader.dialect, (), reader.width)[:-1]


def _from_the_first(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines from the first that says something, which has names: nobody's row decides which that is.

    A first one by which Excel is told the delimiter says nothing.
    """
    first = next(filter(_says_something, lines), b"")
    if _is_separator(first):
        first = next(filter(_says_something, lines), b"")
    if first:
        yield first
        yield from lines


def _says_something(line: bytes) -> bool:
    return not is_nothing(line.decode(errors="replace"))


def _is_separator(line: bytes) -> bool:
    return SEPARATOR_LINE.fullmatch(line.decode(errors="replace")) is not None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Each line without its end; of one that is too long for a row as much as shows that."""
    while line := file.readline(MAX_LINE_BYTES + 2):
        if not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield line.removesuffix(b"\n")
