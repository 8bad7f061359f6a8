"""How a text file separates its fields, told from samples of it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.options import DELIMITERS, MAX_LINE_BYTES, ReadOptions

SAMPLE_BYTES = 128 * 1024
csv.field_size_limit(MAX_LINE_BYTES)


@dataclass(frozen=True)
class Dialect:
    """delimiter: between fields. strip: spaces around a field are not part of it. skip: blank first lines."""

    delimiter: str
    strip: bool
    skip: int

    def records(self, lines: Iterator[str] | list[str], *, strict: bool = False) -> Iterator[list[str]]:
        """The fields of each record, as a plain reader sees them."""
        return csv.reader(lines, delimiter=self.delimiter, skipinitialspace=self.strip, strict=strict)


@dataclass(frozen=True)
class Sample:
    """Pieces of a UTF-8 file: its beginning and whole lines of its middle and its end."""

    head: list[str]
    rest: list[str]
    bytes_per_line: float


def sample_lines(source: Path) -> Sample:
    """Read samples. Raises UploadFault if the first line is longer than any line may be."""
    size = source.stat().st_size
    with source.open("rb") as file:
        head = _head(file, size)
        rest = []
        for position in (size // 2, size - SAMPLE_BYTES):
            if position > len(head):
                file.seek(position)
                # The first line is cut, the last may be.
                rest += _lines(file.read(SAMPLE_BYTES))[1:-1]
    lines = _lines(head)
    return Sample(lines, rest, len(head) / max(1, len(lines)))


def detect_dialect(sample: Sample, options: ReadOptions, file_name: str) -> Dialect:
    """The dialect in which the sample's lines have the most equal and the most numerous fields."""
    skip = next((i for i, line in enumerate(sample.head) if line.strip("\r\n\ufeff")), len(sample.head))
    if skip == len(sample.head):
        raise UploadFault("empty", "This file holds only blank lines. Upload a table with names and rows.")
    lines = sample.head[skip:]
    if options.delimiter is not None:
        delimiter = options.delimiter
    else:
        first = "\t" if file_name.lower().endswith((".tsv", ".tab")) else ","
        candidates = sorted(DELIMITERS, key=lambda mark: mark != first)
        delimiter = max(candidates, key=lambda mark: _agreement(lines, mark))
    strip = options.strip if options.strip is not None else _spaced(lines, delimiter)
    return Dialect(delimiter, strip, skip)


def _head(file: BinaryIO, size: int) -> bytes:
    """Whole lines of the file's beginning: a sample's length of them, or the first line if that is longer."""
    piece = file.read(SAMPLE_BYTES)
    if not _ends_line(piece):
        piece += file.read(MAX_LINE_BYTES)
    if len(piece) >= size:
        return piece
    if not _ends_line(piece):
        raise long_line(1)
    return piece[: max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1]


def _ends_line(piece: bytes) -> bool:
    return b"\n" in piece or b"\r" in piece


def _lines(piece: bytes) -> list[str]:
    text = piece.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)


def _agreement(lines: list[str], delimiter: str) -> tuple[bool, float, int]:
    """How well a delimiter explains lines: more than one field, share as wide as the header, width."""
    widths = list(map(len, _readable(Dialect(delimiter, False, 0), lines)))
    if not widths or widths[0] < 2:
        return (False, 0.0, 0)
    return (True, round(Counter(widths)[widths[0]] / len(widths), 2), widths[0])


def _spaced(lines: list[str], delimiter: str) -> bool:
    """Whether every field but a line's first begins with a space, as in "39, Private, 77516"."""
    later = [
        field for record in _readable(Dialect(delimiter, False, 0), lines) for field in record[1:] if field
    ]
    return bool(later) and all(field.startswith(" ") for field in later)


def _readable(dialect: Dialect, lines: list[str]) -> list[list[str]]:
    """Records up to the first that cannot be read; a sample may end inside a quoted field."""
    records = []
    try:
        for record in dialect.records(lines):
            if record:
                records.append(record)
    except csv.Error:
        pass
    return records


def sampled_records(sample: Sample, dialect: Dialect) -> list[list[str]]:
    """The sample's records, the header first.

    The rest may begin inside a quoted field and be read inside out; then fields span lines and are left out.
    """
    head = _readable(dialect, sample.head[dialect.skip :])
    rest = _readable(dialect, sample.rest)
    return head + [record for record in rest if not any("\n" in field for field in record)]


def long_line(row: int) -> UploadFault:
    return UploadFault(
        "long-line",
        f"Line {row:,} is longer than {MAX_LINE_BYTES:,} bytes, so this is no table with a row on each line. "
        "Check that the export wrote line ends and closed its quotation marks.",
        row=row,
    )
