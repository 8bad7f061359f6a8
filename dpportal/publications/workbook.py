"""A CSV table of a download as an XLSX workbook: streamed column by column, with the same bytes each time.

Five small files in a zip, by ECMA-376 part 1. XlsxWriter takes 17 µs a cell, thirteen times as long as this, four
minutes for a million rows of fifteen columns; openpyxl takes longer, and writes the time of day into the file.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from dpportal.publications.archive import BundleFile
from dpportal.publications.spreadsheet import exact
from dpportal.publications.table import Table
from mechanisms.tabular.workbook_parts import (
    BEGIN,
    DAYS_TO_1970,
    END,
    FIRST_DAY,
    MOST_LINES,
    NO_XML,
    PARTS,
    SHEET,
    XML,
)

log = logging.getLogger(__name__)

# Of a sheet; and the longest text of a cell, in UTF-16 units.
MOST_COLUMNS, MOST_CHARACTERS = 16_384, 32_767
# So many bytes of the file are read at once, and more than a line has.
BLOCK = 1 << 22
_TEXT = pa.string()
# The earliest time that a zip can hold: the same on every entry.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def workbook(table: Table) -> BundleFile | None:
    """The table in a workbook beside it; None if it has more than a sheet or a cell holds, or no described columns."""
    if not 0 < len(table.fields) <= MOST_COLUMNS:
        return None
    path = table.path.with_suffix(".xlsx")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in PARTS.items():
            archive.writestr(_entry(name), XML + part)
        with archive.open(_entry(SHEET), "w", force_zip64=True) as sheet:
            fits = _fits(table, sheet)
    if not fits:
        path.unlink()
        return None
    return BundleFile(path, about_workbook(table.path.name))


def with_workbooks(tables: Iterable[Table]) -> list[BundleFile]:
    """The file of each table, with its workbook after it where there is one."""
    return [file for table in tables for file in (BundleFile.of(table), workbook(table)) if file]


def about_workbook(table: str) -> str:
    """What the workbook beside a table's file is."""
    return f"The same as {table}, for spreadsheets"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _fits(table: Table, sheet: IO[bytes]) -> bool:
    """Whether all of the table could be written to the sheet."""
    try:
        return _write_sheet(table, sheet)
    except pa.ArrowInvalid:  # a line that is longer than a block
        log.warning("a table has no workbook: %s could not be read", table.path.name)
        return False


def _write_sheet(table: Table, sheet: IO[bytes]) -> bool:
    """Write header and lines; whether all fitted."""
    sheet.write(BEGIN.encode())
    names = pa.array([str(field["name"]) for field in table.fields], _TEXT)
    sheet.write(f"<row>{''.join(_texts(names).to_pylist())}</row>".encode())
    lines = 1
    for batch in _batches(table):
        lines += batch.num_rows
        if lines > MOST_LINES or any(map(_is_too_long, batch.columns)):
            return False
        columns = [
            _CELLS.get(str(field["type"]), _texts)(column)
            for field, column in zip(table.fields, batch.columns, strict=True)
        ]
        rows = pc.binary_join_element_wise("<row>", *columns, "</row>", "")
        sheet.write("".join(rows.to_pylist()).encode())
    sheet.write(END.encode())
    return True


def _batches(table: Table) -> Iterator[pa.RecordBatch]:
    """The lines of the CSV as texts, some at a time."""
    names = [str(field["name"]) for field in table.fields]
    with csv.open_csv(
        table.path,
        read_options=csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, _TEXT), strings_can_be_null=False
        ),
    ) as reader:
        yield from reader


def _is_too_long(texts: pa.Array) -> bool:
    """Whether a cell would not hold one of the texts; a sign takes two units at most."""
    longest = pc.max(pc.utf8_length(texts)).as_py() or 0
    if longest <= MOST_CHARACTERS // 2:
        return False
    return any(len(text.encode("utf-16-le")) > 2 * MOST_CHARACTERS for text in texts.to_pylist() if text)


def _values(texts: pa.Array) -> pa.Array:
    """Without the empty ones, which are missing values."""
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, _TEXT), texts)


def _cells(begin: str, values: pa.Array, end: str) -> pa.Array:
    """Each value in a cell; of a missing one an empty cell."""
    return pc.coalesce(pc.binary_join_element_wise(begin, values, end, ""), "<c/>")


def _texts(texts: pa.Array) -> pa.Array:
    # Marks that XML cannot hold at all are left out.
    plain = pc.replace_substring_regex(exact(_values(texts)), NO_XML, "")
    # A carriage return as it stands would be read as a newline.
    for mark, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        plain = pc.replace_substring(plain, mark, name)
    return _cells('<c t="inlineStr"><is><t xml:space="preserve">', plain, "</t></is></c>")


def _numbers(texts: pa.Array) -> pa.Array:
    return _cells("<c><v>", _values(texts), "</v></c>")


def _truths(texts: pa.Array) -> pa.Array:
    values = _values(texts)
    # Rows have true and false as programs write them, other files True and False.
    ones = pc.if_else(pc.equal(pc.utf8_lower(values), "true"), "1", "0")
    return _cells('<c t="b"><v>', pc.if_else(pc.is_valid(values), ones, pa.scalar(None, _TEXT)), "</v></c>")


def _days(texts: pa.Array) -> pa.Array:
    """Numbers shown as days; days before the calendar of spreadsheets begins stay texts."""
    days = pc.add(_values(texts).cast(pa.date32()).cast(pa.int32()), DAYS_TO_1970)
    numbered = _cells('<c s="1"><v>', days.cast(_TEXT), "</v></c>")
    return pc.if_else(pc.fill_null(pc.less(days, FIRST_DAY), False), _texts(texts), numbered)


_CELLS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "integer": _numbers,
    "number": _numbers,
    "boolean": _truths,
    "date": _days,
}
