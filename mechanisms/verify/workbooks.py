"""Whether a workbook holds the lines of its CSV file, and not a sheet, formula, comment or name more.

A portal writes workbooks cell by cell in one way. So the sheet is written again from the CSV file, and compared byte
for byte; all other parts are the same in every workbook.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import date

from mechanisms.inert_text import GUARDED
from mechanisms.tabular.workbook_parts import BEGIN, DAYS_TO_1970, END, FIRST_DAY, NO_XML, PARTS, SHEET, XML
from mechanisms.verify import container
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding

ENDING = ".xlsx"
_GUARDED = re.compile(f"^'({GUARDED})")
_NO_XML = re.compile(NO_XML.replace("\\x{fffe}", "\ufffe").replace("\\x{ffff}", "\uffff"))
_MARKS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
# Lines that are compared at once.
_AT_ONCE = 10_000


def check(bundle: Bundle, name: str, kinds: Mapping[str, str]) -> Finding:
    """name: of the workbook. kinds: of the columns of its CSV file, as its data package says."""
    table = name.removesuffix(ENDING) + ".csv"
    if table not in bundle.entries:
        return Finding.of(name, "there is no table that it is the same as", "")
    content = bundle.content(name)
    held = io.BytesIO(content)
    try:
        with zipfile.ZipFile(held) as archive:
            fault = next(container.faults(archive, held), "") or _fault(bundle, archive, table, kinds)
    except zipfile.BadZipFile:
        fault = "it is no workbook"
    return Finding.of(name, fault, f"it has the lines of {table}, cell by cell, and nothing else")


def _fault(bundle: Bundle, archive: zipfile.ZipFile, table: str, kinds: Mapping[str, str]) -> str:
    if sorted(archive.namelist()) != sorted([*PARTS, SHEET]):
        return "it has other parts than one sheet"
    for part, text in PARTS.items():
        if archive.read(part) != (XML + text).encode():
            return f"its part {part} is another"
    lines = csv.reader(io.StringIO(bundle.content(table).decode(), newline=""))
    with archive.open(SHEET) as sheet:
        for number, own in enumerate(_sheet(lines, kinds)):
            if sheet.read(len(own)) != own:
                return (
                    f"it differs from {table} after line {number * _AT_ONCE:,}"
                    if number
                    else "its sheet begins otherwise"
                )
        return "its sheet has more lines" if sheet.read(1) else ""


def _sheet(lines: Iterator[list[str]], kinds: Mapping[str, str]) -> Iterator[bytes]:
    """The bytes of a sheet: its begin with the header, then some lines at a time, then its end."""
    header = next(lines)
    yield f"{BEGIN}<row>{''.join(map(_text, header))}</row>".encode()
    cells = [_CELLS.get(kinds.get(name, ""), _text) for name in header]
    rows: list[str] = []
    for fields in lines:
        rows.append(f"<row>{''.join(cell(field) for cell, field in zip(cells, fields, strict=True))}</row>")
        if len(rows) == _AT_ONCE:
            yield "".join(rows).encode()
            rows = []
    yield "".join(rows).encode()
    yield END.encode()


def _text(field: str) -> str:
    if not field:
        return "<c/>"
    plain = _NO_XML.sub("", _GUARDED.sub(r"\1", field))
    for mark, named in _MARKS.items():
        plain = plain.replace(mark, named)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>'


def _number(field: str) -> str:
    return f"<c><v>{field}</v></c>" if field else "<c/>"


def _truth(field: str) -> str:
    return f'<c t="b"><v>{int(field.lower() == "true")}</v></c>' if field else "<c/>"


def _day(field: str) -> str:
    if not field:
        return "<c/>"
    day = (date.fromisoformat(field) - date(1970, 1, 1)).days + DAYS_TO_1970
    return f'<c s="1"><v>{day}</v></c>' if day >= FIRST_DAY else _text(field)


_CELLS: Mapping[str, Callable[[str], str]] = {
    "integer": _number,
    "number": _number,
    "boolean": _truth,
    "date": _day,
}
