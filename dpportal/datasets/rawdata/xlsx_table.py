"""A sheet of an XLSX workbook to a CSV file, a row at a time."""

from __future__ import annotations

import csv
import datetime as dt
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from xml.etree.ElementTree import Element, ParseError

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.workbook import Workbook
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from dpportal.datasets.rawdata.faults import UploadFault, damaged, unfolds_too_far
from dpportal.datasets.rawdata.options import Limits
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.table import Oddities, Sheet

MOST_ROWS = 1_048_576  # of any sheet, by the format
MOST_PARTS = 10_000
WHOLE_DOUBLES = 2**53
MOST_RATIO = 1_000  # deflate reaches 1,032; sheets rarely pass 30
SMALL_PART_BYTES = 1 << 20
UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
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


@dataclass
class Unpacked:
    """A sheet that was written as CSV, and what the curator is told of it."""

    sheet: str = ""
    sheets: tuple[Sheet, ...] = ()
    blank: int = 0
    errors: int = 0
    uncached: int = 0
    merged: int = 0

    def oddities(self) -> Oddities:
        return Oddities(
            blank_rows=self.blank,
            uncached_formulas=self.uncached,
            error_cells=self.errors,
            merged_ranges=self.merged,
        )


class SheetParser(WorkSheetParser):
    """The library's parser, which also counts formulas whose result the workbook does not hold."""

    uncached = 0

    def parse_cell(self, element: Element) -> dict[str, Any]:
        cell = super().parse_cell(element)
        self.uncached += cell["value"] is None and element.find(FORMULA_TAG) is not None
        return cell


def unpack_xlsx(source: Path, target: Path, sheet: str | None, limits: Limits, report: Report) -> Unpacked:
    """Write a sheet as CSV in UTF-8: days as ISO 8601, whole numbers without a point, no blank rows.

    sheet: its name; None takes the first that is not hidden. A cell that holds an error, and a formula without a stored
    result, have no value; of merged cells only the first has one. Raises UploadFault if the workbook
    is damaged, lacks the sheet or unfolds past a limit.
    """
    _check_parts(source, limits)
    unpacked = Unpacked()
    with target.open("w", encoding="utf-8", newline="") as file:
        try:
            with _workbook(source) as workbook:
                _write_rows(workbook, sheet, file, unpacked, limits, report)
        except UNREADABLE:
            # openpyxl meets a damaged part with whatever error its parsing stumbles over.
            raise damaged("XLSX") from None
    return unpacked


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


@contextmanager
def _workbook(source: Path) -> Iterator[Workbook]:
    with source.open("rb") as opened:
        workbook = load_workbook(opened, read_only=True, data_only=True, keep_links=False)
        try:
            yield workbook
        finally:
            workbook.close()


def _write_rows(
    workbook: Workbook, wanted: str | None, file: TextIO, unpacked: Unpacked, limits: Limits, report: Report
) -> None:
    writer = csv.writer(file, lineterminator="\n")
    width, due = 0, 1
    for number, cells in _sheet_rows(workbook, wanted, unpacked):
        if number > MOST_ROWS or file.tell() > limits.unfolded_bytes:
            raise unfolds_too_far(limits.unfolded_bytes)
        filled = max(cells, default=0)
        if not filled:
            continue
        unpacked.blank += max(0, number - due) if width else 0  # a damaged sheet may number rows twice
        due = number + 1
        width = width or filled
        if max(filled, width) > limits.columns:
            raise _too_wide(number, limits)
        if filled > width:
            raise _ragged(number, filled, width)
        writer.writerow([cells.get(place, "") for place in range(1, width + 1)])
        report(number, None)
    if not width:
        raise UploadFault(
            "empty", "This sheet is empty. Choose the sheet that has the table, with names in its first row."
        )


def _sheet_rows(
    workbook: Workbook, wanted: str | None, unpacked: Unpacked
) -> Iterator[tuple[int, dict[int, str]]]:
    """Each row's number and its texts by column, both counted from 1; empty cells are left out."""
    sheet = _chosen(workbook, wanted, unpacked)
    with sheet._get_source() as part:
        parser = SheetParser(
            part,
            sheet._shared_strings,
            data_only=True,
            epoch=workbook.epoch,
            date_formats=workbook._date_formats,
            timedelta_formats=workbook._timedelta_formats,
        )
        for number, row in parser.parse():
            unpacked.errors += sum(cell["data_type"] == "e" for cell in row)
            texts = ((cell["column"], _text(cell["value"])) for cell in row if cell["data_type"] != "e")
            yield number, {place: text for place, text in texts if text}
        unpacked.uncached = parser.uncached
        unpacked.merged = len(parser.merged_cells.mergeCell) if parser.merged_cells else 0


def _chosen(workbook: Workbook, wanted: str | None, unpacked: Unpacked) -> Any:
    """The sheet to read, noting all that there are."""
    sheets = workbook.worksheets
    unpacked.sheets = tuple(Sheet(s.title, s.sheet_state != "visible") for s in sheets)
    if not sheets:
        raise UploadFault("empty", "This workbook has no sheet with cells. Upload one that has a table.")
    if wanted is None:
        sheet = next((s for s in sheets if s.sheet_state == "visible"), sheets[0])
    else:
        sheet = next((s for s in sheets if s.title == wanted), None)
    if sheet is None:
        raise UploadFault(
            "sheet",
            "This workbook has no sheet of the declared name. Give the sheet that name, or declare another.",
        )
    unpacked.sheet = sheet.title
    return sheet


def _text(cell: Any) -> str:
    """A cell as the one text of its value."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < WHOLE_DOUBLES else repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time() else cell.isoformat(" ", "seconds")
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def _ragged(row: int, filled: int, width: int) -> UploadFault:
    return UploadFault(
        "ragged",
        f"Row {row:,} has a value in column {filled}, but the first row names {width} columns. "
        "Name that column in the first row, or remove the value.",
        row=row,
        column=filled,
    )


def _too_wide(row: int, limits: Limits) -> UploadFault:
    return UploadFault(
        "columns",
        f"Row {row:,} reaches beyond column {limits.columns}; at most {limits.columns:,} columns are read. "
        "Keep the columns that you want to publish and upload again.",
        row=row,
    )
