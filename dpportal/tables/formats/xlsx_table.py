"""Writes a sheet of an XLSX workbook to a CSV file, a row at a time."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import IO, TextIO
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.xml.constants import SHARED_STRINGS

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.facts import Oddities, Sheet, TableFacts
from dpportal.tables.faults import UploadFault, damaged, unfolds_too_far
from dpportal.tables.formats.archives import parts_of
from dpportal.tables.formats.csv_table import convert_csv
from dpportal.tables.formats.empty_columns import SheetCells
from dpportal.tables.formats.frame import is_note
from dpportal.tables.formats.legal_characters import LegalCharacters
from dpportal.tables.formats.merged_cells import MergedColumn, filled_down, merged_columns
from dpportal.tables.formats.progress import Report, part
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.shared_strings import read_shared_strings
from dpportal.tables.formats.sheet_frame import below_titles, only_used_columns, resolved_top
from dpportal.tables.formats.sheet_parser import MostCells, SheetParser, too_many_cells
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES, Limits, ReadOptions

MOST_ROWS = 1_048_576  # of any sheet, by the format
# What is known of them only once the sheet's rows were read as text.
ODDITIES_OF_ROWS = (
    "broken_fields",
    "longest_broken",
    "notes_at_end",
    "fewest_filled",
    "note_words",
)
# The share of the work that is done once the sheet is written as text.
UNPACKED = 0.8
# Of markup, that is read however tightly a workbook is packed, and so often the file's own size: sheets that name their
# cells are packed to a nineteenth at most, and those of zeros and ones that do not, to a fiftieth.
MARKUP_BYTES, MARKUP_RATIO = 2**26, 64
# Cells with something inside, that are read however small a workbook is, and so many more of each byte of its file:
# a program that packs tightly needs two bytes for a cell with its address. They take some microseconds each, and where
# an element has to be made of each, so many times as long; hardly any program writes a whole sheet in such a way.
MOST_CELLS, CELLS_PER_BYTE, ELEMENT_COST = 2**21, 4, 4
# Cells without a value, by the same rule: sheets formatted to their end have two bytes for each, or no addresses, and
# some million are read of the smallest file.
MOST_BLANK, BLANK_PER_BYTE = 2**24, 1
# Of the parts that are read as trees before any row is: a style or a sheet's name takes a hundred times its letters.
TREES, TREE_BYTES = ("xl/styles.xml", "xl/workbook.xml", "[Content_Types].xml"), 2**21
SMALL_PART_BYTES, STEEPEST = 1 << 20, 1_000  # deflate reaches 1,032; sheets rarely pass 30
UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    InvalidFileException,
    ParseError,
    ExpatError,
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
    """A sheet that was written as CSV, with the facts that the curator sees; options: resolved as far as it took.

    top: the last of the sheet's rows that hold titles and names. merged: how many ranges of cells end in a row.
    columns: of ranges that are filled down.
    """

    options: ReadOptions
    sheet: str = ""
    sheets: tuple[Sheet, ...] = ()
    blank: int = 0
    spoiled: int = 0
    errors: int = 0
    uncached: int = 0
    merged: Mapping[int, int] = field(default_factory=dict)
    columns: list[MergedColumn] = field(default_factory=list)
    notes: int = 0
    top: int = 0

    def oddities(self) -> Oddities:
        return Oddities(
            blank_rows=self.blank,
            spoiled_rows=self.spoiled,
            uncached_formulas=self.uncached,
            error_cells=self.errors,
            merged_ranges=sum(ranges for row, ranges in self.merged.items() if row > self.top),
            note_lines=self.notes,
        )


@dataclass(frozen=True)
class Reach:
    """How far a sheet's rows reach. width: in columns, 0 where the first row says it. is_further: see `unpack_xlsx`.

    columns, cells, text_bytes: that there may be, cells with something inside and all their texts. most: how many of
    other cells there may be.
    """

    is_further: bool
    width: int
    columns: int
    cells: int
    text_bytes: int
    most: MostCells

    @classmethod
    def of(cls, reading: Reading) -> Reach:
        width = 0 if reading.options.header else reading.further_columns
        size, columns = size_of(reading.source), reading.limits.columns
        cells, blank = MOST_CELLS + CELLS_PER_BYTE * size, MOST_BLANK + BLANK_PER_BYTE * size
        most = MostCells(blank, cells // ELEMENT_COST)
        return cls(reading.is_further, width, columns, cells, reading.most_text_bytes, most)


@dataclass(frozen=True)
class SheetPart:
    """Where a workbook keeps a sheet."""

    name: str
    hidden: bool
    path: str


class Workbook(ExcelReader):  # type: ignore[misc]
    """The library's reader without its sheets: it would read each of them to the end for its size.

    is_further: see `unpack_xlsx`.
    """

    def __init__(self, file: IO[bytes], *, is_further: bool) -> None:
        super().__init__(file, read_only=True, data_only=True, keep_links=False)
        self.is_further = is_further
        self.read_manifest()
        self.read_strings()
        self.read_workbook()
        apply_stylesheet(self.archive, self.wb)
        self.sheets = [
            SheetPart(sheet.name, sheet.state != "visible", relation.target)
            for sheet, relation in self.parser.find_sheets()
            if relation.target in self.valid_files and "chartsheet" not in relation.Type
        ]

    def read_strings(self) -> None:
        part = self.package.find(SHARED_STRINGS)
        if part is None:
            return
        path = part.PartName[1:]
        others = sum(info.file_size for info in self.archive.infolist() if info.filename != path)
        with self.part(path) as source:
            self.shared_strings = read_shared_strings(source, others)

    @contextmanager
    def part(self, path: str) -> Iterator[IO[bytes] | LegalCharacters]:
        """A part that holds rows' texts."""
        with self.archive.open(path) as source:
            yield LegalCharacters(source) if self.is_further else source


def convert_xlsx(reading: Reading) -> TableFacts:
    """Store a sheet of a workbook. Raises UploadFault as `unpack_xlsx`, and as a text file of the same rows would."""
    sheet, options = reading.target.with_name("sheet.csv"), reading.options
    unpacked = unpack_xlsx(reading, sheet)
    written = replace(options, delimiter=",", encoding="utf-8", quote='"').unframed()
    report = part(reading.report, UNPACKED, 1)
    again = replace(reading, source=sheet, file_name=sheet.name, options=written, report=report)
    read = convert_csv(again, from_sheet=True)
    oddities = replace(
        unpacked.oddities(), **{name: getattr(read.oddities, name) for name in ODDITIES_OF_ROWS}
    )
    resolved = replace(
        read.options,
        sheet=unpacked.sheet,
        delimiter=options.delimiter,
        encoding=options.encoding,
        quote=options.quote,
    ).framed_like(unpacked.options)
    return replace(read, format="xlsx", options=resolved, oddities=oddities, sheets=unpacked.sheets)


def unpack_xlsx(reading: Reading, target: FilePath) -> Unpacked:
    """Write a sheet as CSV in UTF-8: days as ISO 8601, whole numbers without a point, no blank rows.

    The declared sheet is taken, or the first that is not hidden. A cell that holds an error, and a formula without a
    stored result, have no value; of merged cells only the first has one, unless these are declared to be filled down.
    In a further file a row that cannot be read is left out and decides on no other; an upload is refused for it.
    Raises UploadFault if the workbook is damaged, lacks the sheet or unfolds past a limit.
    """
    unpacked = Unpacked(reading.options)
    with target.open("w", encoding="utf-8", newline="") as file, opened_sheet(reading, unpacked) as rows:
        unpacked.options, rows = resolved_top(rows, unpacked.options)
        options, below = unpacked.options, below_titles(rows, unpacked.options, reading.further_columns)
        if options.fill_merged:
            below = filled_down(below, lambda: unpacked.columns, has_names=options.header)
        if options.header:
            below = only_used_columns(below, by_names=reading.is_further)
        _write_rows(below, file, unpacked, Reach.of(reading))
    return unpacked


@contextmanager
def opened_sheet(reading: Reading, unpacked: Unpacked) -> Iterator[Iterator[tuple[int, SheetCells]]]:
    """The rows of a sheet as `_sheet_rows` has them, up to as many as there may be. Raises as `unpack_xlsx`."""
    _check_parts(reading.source, reading.limits)
    report = part(reading.report, 0, UNPACKED)
    try:
        with reading.source.open("rb") as opened:
            workbook, reach = Workbook(opened, is_further=reading.is_further), Reach.of(reading)
            yield _limited(_sheet_rows(workbook, unpacked, report, reach.most), reach)
    except UNREADABLE:
        # openpyxl meets a damaged part with whatever error its parsing stumbles over.
        raise damaged("XLSX") from None


def _check_parts(source: FilePath, limits: Limits) -> None:
    """Add up the directory's sizes. If they lie, reading stops at the size that is stated here."""
    parts = parts_of(source)
    steep = any(
        part.file_size > SMALL_PART_BYTES and part.file_size > STEEPEST * max(1, part.compress_size)
        for part in parts
    )
    total = sum(part.file_size for part in parts)
    most = max(min(MARKUP_BYTES, limits.unfolded_bytes), MARKUP_RATIO * size_of(source))
    if steep or total > most:
        raise unfolds_too_far(most)
    if (
        sum(part.file_size for part in parts if part.filename in TREES or part.filename.endswith(".rels"))
        > TREE_BYTES
    ):
        raise UploadFault(
            "unfolds",
            "This workbook has far more styles, names or references than a table needs. "
            "Copy the table into a new workbook, or save it as CSV, and upload that file.",
        )
    if any(part.flag_bits & 1 for part in parts):
        raise UploadFault(
            "protected",
            "This workbook is protected by a password. Save it without one and upload it again.",
        )


def _write_rows(
    rows: Iterator[tuple[int, SheetCells]], file: TextIO, unpacked: Unpacked, reach: Reach
) -> None:
    writer = csv.writer(file, lineterminator="\n")
    width, written, due = reach.width, 0, 1
    leaves_out = unpacked.options.leaves_out_notes
    for number, cells in rows:
        _check_text(reach, written)
        filled = max(cells, default=0)
        if not filled:
            continue
        is_below = leaves_out and (bool(written) or not unpacked.options.header)
        if is_below and is_note([cells[place] for place in sorted(cells)], unpacked.options):
            unpacked.notes += 1
            due = number + 1
            continue
        unpacked.blank += max(0, number - due) if width else 0
        due = number + 1
        if not width:
            unpacked.top = number if unpacked.options.header else number - 1
        width = width or filled
        is_row = bool(written or reach.width)
        if reach.is_further and is_row and (filled > width or _is_too_long(cells, width)):
            unpacked.spoiled += 1
            continue
        if max(filled, width) > reach.columns:
            raise _too_wide(number, reach.columns)
        if filled > width:
            raise _ragged(number, filled, width)
        written += writer.writerow([cells.get(place, "") for place in range(1, width + 1)])
    if not written:
        raise UploadFault(
            "empty", "This sheet is empty. Choose the sheet that has the table, with names in its first row."
        )


def _limited(rows: Iterator[tuple[int, SheetCells]], reach: Reach) -> Iterator[tuple[int, SheetCells]]:
    """The rows, as long as there are no more of them, and of their cells, than a sheet may have."""
    filled_cells = 0
    # A damaged sheet may number many rows alike.
    for seen, (number, cells) in enumerate(rows, 1):
        filled_cells += len(cells)
        if max(seen, number) > MOST_ROWS:
            raise _too_many_rows()
        if filled_cells > reach.cells:
            raise too_many_cells(reach.cells)
        yield number, cells


def _check_text(reach: Reach, text_bytes: int) -> None:
    """Raise UploadFault if a sheet has had more text than it may have."""
    if text_bytes > reach.text_bytes:
        raise unfolds_too_far(reach.text_bytes)


def _is_too_long(cells: SheetCells, width: int) -> bool:
    """Whether a row of so many columns may not fit on a line: texts may be quoted, and a mark ends each field."""
    return width + sum(len(text.encode()) + text.count('"') + 2 for text in cells.values()) > MAX_LINE_BYTES


def _sheet_rows(
    workbook: Workbook, unpacked: Unpacked, report: Report, most: MostCells
) -> Iterator[tuple[int, SheetCells]]:
    """Each row's number and its texts by column, both counted from 1; empty cells are left out."""
    sheet = _chosen(workbook, unpacked.options.sheet, unpacked)
    size = max(1, workbook.archive.getinfo(sheet.path).file_size)
    if unpacked.options.fill_merged:
        with workbook.archive.open(sheet.path) as markup:
            unpacked.columns = merged_columns(markup)
    with workbook.part(sheet.path) as part:
        parser = SheetParser(
            part,
            workbook.shared_strings,
            data_only=True,
            epoch=workbook.wb.epoch,
            date_formats=workbook.wb._date_formats,
            timedelta_formats=workbook.wb._timedelta_formats,
            most=most,
            is_further=workbook.is_further,
        )
        for row in parser.parse():
            report(parser.bytes_read / size)
            yield row
        unpacked.errors, unpacked.uncached = parser.errors, parser.uncached
        unpacked.merged = {} if unpacked.options.fill_merged else parser.merged


def _chosen(workbook: Workbook, declared: str | None, unpacked: Unpacked) -> SheetPart:
    """The sheet to read; notes the names of all."""
    sheets = workbook.sheets
    unpacked.sheets = tuple(Sheet(sheet.name, sheet.hidden) for sheet in sheets)
    if not sheets:
        raise UploadFault("empty", "This workbook has no sheet with cells. Upload one that has a table.")
    if declared is None:
        sheet = next((s for s in sheets if not s.hidden), sheets[0])
    elif declared in (names := [s.name for s in sheets]):
        sheet = sheets[names.index(declared)]
    else:
        raise UploadFault(
            "sheet",
            "This workbook has no sheet of the declared name. Give the sheet that name, or declare another.",
        )
    unpacked.sheet = sheet.name
    return sheet


def _ragged(row: int, filled: int, width: int) -> UploadFault:
    return UploadFault(
        "ragged",
        f"Row {row:,} has a value in column {filled}, but the first row only has {width} of the columns’ names. "
        "Add the missing name there, remove the value, or choose another sheet.",
        row=row,
        column=filled,
    )


def _too_many_rows() -> UploadFault:
    return UploadFault(
        "unfolds",
        f"This workbook has more rows than a sheet can have, {MOST_ROWS:,}, so a program filled it or it is damaged. "
        "Delete the empty rows, or save the table as CSV.",
    )


def _too_wide(row: int, columns: int) -> UploadFault:
    return UploadFault(
        "columns",
        f"Row {row:,} reaches beyond column {columns}; at most {columns:,} columns are read. "
        "Keep the columns that you want to publish and upload again.",
        row=row,
    )
