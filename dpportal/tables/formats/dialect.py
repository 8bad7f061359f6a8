"""How a plain text file separates its fields, proposed from its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.frame import SAMPLE_LINES, Line, filled, usual_width
from dpportal.tables.meaning.parse_options import DELIMITERS, MAX_LINE_BYTES, ReadOptions

SAMPLE_BYTES = 128 * 1024
csv.field_size_limit(MAX_LINE_BYTES)
# The share of lines that are as wide as the first, from which on it is no title.
MOST = 0.9
# That of rows among the first lines, with titles and names above them.
MAINLY = 0.6
# A line whose commas all stand between digits.
DECIMAL_COMMAS = re.compile(r"(?:[^,]|(?<=[0-9]),(?=[0-9]))*", re.DOTALL)
# A first line by which Excel is told the delimiter.
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


@dataclass(frozen=True)
class CsvDialect:
    """delimiter, quote: of the fields. skip: first lines that hold no row: blank ones and a line `sep=;`."""

    delimiter: str
    quote: str
    skip: int

    def records(self, lines: Iterable[str], *, strict: bool = False) -> Iterator[list[str]]:
        """The fields of each record, as a plain reader sees them.

        Spaces before a field are passed over, since the engine takes a quotation mark after them for an opening one.
        """
        return csv.reader(
            lines, delimiter=self.delimiter, strict=strict, skipinitialspace=True, **self._quoting()
        )

    def writer(self, file: TextIO) -> Any:
        """A writer of such lines."""
        return csv.writer(file, delimiter=self.delimiter, lineterminator="\n", **self._quoting())

    def numbered(self, lines: list[str], *, keeps_empty: bool = False) -> list[Line]:
        """The records of a file's first lines with their places, up to one that cannot be read.

        keeps_empty: whether one of delimiters alone is among them.
        """
        records, reader, after = [], csv.reader(lines, delimiter=self.delimiter, **self._quoting()), 0
        with suppress(csv.Error):
            for record in reader:
                if filled(record) or (keeps_empty and len(record) > 1):
                    records.append(Line(after, reader.line_num, record))
                after = reader.line_num
        return records

    def _quoting(self) -> dict[str, Any]:
        return {"quotechar": self.quote} if self.quote else {"quoting": csv.QUOTE_NONE}


def first_lines(plain: FilePath) -> list[str]:
    """The file's first lines. Raises UploadFault if the first one is longer than any line may be."""
    with plain.open("rb") as file:
        piece = file.read(SAMPLE_BYTES)
        if b"\n" not in piece:
            piece += file.read(MAX_LINE_BYTES)
    if b"\n" not in piece:
        raise long_line(1)
    text = piece[: piece.rfind(b"\n") + 1].decode("utf-8", "replace")
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def dialect_of(
    lines: list[str], options: ReadOptions, file_name: str, *, from_sheet: bool = False
) -> CsvDialect:
    """The declared dialect; an undeclared delimiter is the one that makes the most equal and most numerous fields.

    from_sheet: whether the lines were written from a sheet, whose first row names columns whatever it says.
    """
    skip = _blank(lines, min(options.title_lines or 0, len(lines)), options)
    first = lines[skip].rstrip("\n") if skip < len(lines) and not from_sheet else ""
    separator = SEPARATOR_LINE.fullmatch(first)
    if separator:
        skip = _blank(lines, skip + 1, options)
    if skip == len(lines):
        raise UploadFault("empty", "This file holds only blank lines. Upload a table with names and rows.")
    delimiter = options.delimiter or (separator and separator[1])
    if delimiter not in DELIMITERS:
        first = "\t" if file_name.lower().endswith((".tsv", ".tab")) else ","
        candidates = sorted(DELIMITERS, key=lambda mark: mark != first)
        scores = {mark: _agreement(lines[skip:], CsvDialect(mark, options.quote, 0)) for mark in candidates}
        if max(scores.values())[1] < MOST:
            # The first line is like few others, so it may be a title, or notes are among them.
            sample = lines[skip : skip + SAMPLE_LINES]
            scores = {mark: _usual(sample, CsvDialect(mark, options.quote, 0)) for mark in candidates}
        delimiter = max(candidates, key=scores.__getitem__)
        if delimiter == ",":
            delimiter = (
                _delimiter_with_decimal_commas(lines[skip : skip + SAMPLE_LINES], options.quote) or ","
            )
    return CsvDialect(delimiter, options.quote, skip)


def first_records(lines: list[str], dialect: CsvDialect) -> list[list[str]]:
    """The records of the first lines, up to one that cannot be read; the last line may end inside a quoted field."""
    records = []
    try:
        for record in dialect.records(lines[dialect.skip :]):
            if record:
                records.append(record)
    except csv.Error:
        pass
    return records


def is_nothing(line: str) -> bool:
    """Whether a line above the names says nothing: it is blank, or has delimiters alone."""
    return not line.strip("".join(DELIMITERS) + " \n")


def _blank(lines: list[str], start: int, options: ReadOptions) -> int:
    """The first line from there on that is not blank; above names one of delimiters alone is."""
    is_blank = is_nothing if options.header else "\n".__eq__
    return next((i for i in range(start, len(lines)) if not is_blank(lines[i])), len(lines))


def _agreement(lines: list[str], dialect: CsvDialect) -> tuple[bool, float, int]:
    """How well a dialect explains lines: more than one field, share as wide as the header, width."""
    widths = list(map(len, first_records(lines, dialect)))
    if not widths or widths[0] < 2:
        return (False, 0.0, 0)
    return (True, round(Counter(widths)[widths[0]] / len(widths), 2), widths[0])


def _usual(lines: list[str], dialect: CsvDialect) -> tuple[bool, float, int]:
    """The same, where the lines and not the first of them say the width: the delimiters in lines of that width."""
    records = dialect.numbered(lines)
    width = usual_width(records)
    share = sum(len(record.fields) == width for record in records) / max(1, len(records))
    return (width > 1, round(share * (width - 1), 2), width)


def _delimiter_with_decimal_commas(lines: list[str], quote: str) -> str:
    """The delimiter of lines whose commas nearly all are decimal marks, whatever titles above them say; or empty."""
    with_marks = sum("," in line and bool(DECIMAL_COMMAS.fullmatch(line)) for line in lines)
    others = (mark for mark in DELIMITERS if mark != ",")
    scores = {mark: _usual(lines, CsvDialect(mark, quote, 0)) for mark in others}
    best = max(scores, key=scores.__getitem__)
    is_table, fields, width = scores[best]
    is_clear = is_table and fields >= MAINLY * (width - 1) and with_marks >= MAINLY * len(lines)
    return best if is_clear else ""


def many_blank_lines(row: int) -> UploadFault:
    """A gap that the engine takes for a part of one line."""
    return UploadFault(
        "blank-lines",
        f"After line {row:,} there are about {MAX_LINE_BYTES:,} blank lines or more before the next row. Delete them, "
        "and upload the file again.",
        row=row,
    )


def long_line(row: int) -> UploadFault:
    """A line that no table has."""
    return UploadFault(
        "long-line",
        f"Line {row:,} is longer than {MAX_LINE_BYTES:,} bytes, so this is no table with a row on each line. "
        "Check that the export wrote line ends and closed its quotation marks.",
        row=row,
    )
