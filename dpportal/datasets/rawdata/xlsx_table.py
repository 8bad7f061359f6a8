"""The first sheet of an XLSX workbook to a CSV file, a row at a time."""

from __future__ import annotations

import csv
import datetime as dt
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO
from xml.etree.ElementTree import ParseError

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from dpportal.datasets.rawdata.faults import UploadFault, damaged, unfolds_too_far
from dpportal.datasets.rawdata.options import Limits
from dpportal.datasets.rawdata.progress import Report

MOST_ROWS = 1_048_576  # of any sheet, by the format
MOST_PARTS = 10_000
MOST_RATIO = 1_000  # deflate reaches 1,032; sheets rarely pass 30
SMALL_PART_BYTES = 1 << 20
UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    InvalidFileException,
    ParseError,
    EOFError,
    KeyError,
    ValueError,  # also what defusedxml raises for an entity or a document type
    TypeError,
    AttributeError,
    IndexError,
    NotImplementedError,
)


def unpack_xlsx(source: Path, target: Path, limits: Limits, report: Report) -> None:
    """Write the first sheet as CSV in UTF-8: dates as ISO 8601, whole numbers without a point, no blank rows.

    Raises UploadFault if the workbook is damaged or unfolds past a limit.
    """
    _check_parts(source, limits)
    with target.open("w", encoding="utf-8", newline="") as file:
        try:
            _write_rows(source, file, limits, report)
        except UNREADABLE:
            # openpyxl meets a damaged part with whatever error its parsing stumbles over.
            raise damaged("XLSX") from None


def _check_parts(source: Path, limits: Limits) -> None:
    """Add up the directory's sizes. If they lie, reading stops at the size that is stated here."""
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise damaged("XLSX") from None
    steep = any(
        part.file_size > SMALL_PART_BYTES and part.file_size > MOST_RATIO * max(1, part.compress_size)
        for part in parts
    )
    total = sum(part.file_size for part in parts)
    if steep or len(parts) > MOST_PARTS or total > limits.unfolded_bytes:
        raise unfolds_too_far(limits.unfolded_bytes)
    if any(part.flag_bits & 1 for part in parts):
        raise UploadFault(
            "protected",
            "This workbook is protected by a password. Save it without one and upload it again.",
        )


def _write_rows(source: Path, file: TextIO, limits: Limits, report: Report) -> None:
    writer = csv.writer(file, lineterminator="\n")
    width = 0
    for number, cells in enumerate(_sheet_rows(source), 1):
        if number > MOST_ROWS or file.tell() > limits.unfolded_bytes:
            raise unfolds_too_far(limits.unfolded_bytes)
        filled = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
        if not filled:
            continue
        width = width or filled
        if max(filled, width) > limits.columns:
            raise _too_wide(number, limits)
        if filled > width:
            raise UploadFault(
                "ragged",
                f"Row {number:,} has a value in column {filled}, but the first row names {width} columns. "
                "Name that column in the first row, or remove the value.",
                row=number,
                column=filled,
            )
        writer.writerow((cells + [""] * width)[:width])
        report(number, None)
    if not width:
        raise UploadFault(
            "empty", "The first sheet is empty. Move the table to the first sheet, names in its first row."
        )


def _sheet_rows(source: Path) -> Iterator[list[str]]:
    with source.open("rb") as opened:
        workbook = load_workbook(opened, read_only=True, data_only=True, keep_links=False)
        try:
            if not workbook.worksheets:
                raise UploadFault(
                    "empty", "This workbook has no sheet with cells. Upload one that has a table."
                )
            sheet = workbook.worksheets[0]
            sheet.reset_dimensions()  # the stated dimensions can be those of a million empty columns
            for cells in sheet.iter_rows(values_only=True):
                yield [_text(cell) for cell in cells]
        finally:
            workbook.close()


def _text(cell: Any) -> str:
    """A cell as a CSV field that reads back as the same value."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time() else cell.isoformat(" ", "seconds")
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def _too_wide(row: int, limits: Limits) -> UploadFault:
    return UploadFault(
        "columns",
        f"Row {row:,} reaches beyond column {limits.columns}; at most {limits.columns:,} columns are read. "
        "Keep the columns that you want to publish and upload again.",
        row=row,
    )
