"""Rows of a sheet whose cells are written as most programs write them, read by one expression.

A parser of XML calls Python several times for each cell, which takes most of the time that a workbook does. The markup
of a plain row is taken out before the parser sees it, and an empty row put in its place, so that the parser still
decides whether that place is a row's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from uuid import uuid4

from openpyxl.utils.cell import column_index_from_string

from dpportal.tables.formats.cell_texts import CellTexts

# The beginning of a sheet in UTF-8; a prefix, if there is one, is of the names of elements.
SHEET = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'](?:utf|UTF)-8[\"'])?"
    rb"(?: standalone=[\"'](?:yes|no)[\"'])?\s*\?>)?\s*<((?:[A-Za-z][A-Za-z0-9]{0,15}:)?)worksheet[\s>]"
)
# Letters that are no markup, and that XML has and leaves as they are; references by their five names alone.
LETTERS = r"(?:[^<&\x00-\x08\x0b-\x1f\ufffe\uffff]++|&(?:amp|lt|gt|quot|apos);)"
FORMULA = (
    r'<{p}f(?: t="(?:shared|array|normal)")?(?: ref="[A-Z0-9:$]+")?(?: ca="1")?(?: si="[0-9]+")?'
    rf"(?:/>|>{LETTERS}*+</{{p}}f>)"
)
PLACE, KIND = r'<{p}c(?: r="([A-Z]{{1,3}})[0-9]{{1,7}}")?', r'(?: t="(n|s|b|str|d)")?'
ANY_KIND = r'(?: t="(n|s|b|str|d|e|inlineStr)")?'
STYLE, EMPTY = r'(?: s="([0-9]{{1,5}})")?', r"\s*(?:/>|>"
# A cell with a value: its column's letters, its style, its kind and its value. Then one that may also hold an error, or
# have its style after its kind, a formula, and a text of its own.
CELL = rf"{PLACE}{STYLE}{KIND}{EMPTY}<{{p}}v>({LETTERS}*+)</{{p}}v></{{p}}c>)"
ANY_CELL = (
    rf"{PLACE}{STYLE}{ANY_KIND}{STYLE}{EMPTY}({FORMULA})?(?:<{{p}}v(?:/>|>({LETTERS}*+)</{{p}}v>))?"
    rf'(?:<{{p}}is><{{p}}t(?: xml:space="preserve")?>({LETTERS}*+)</{{p}}t></{{p}}is>)?</{{p}}c>)'
)
ROW = r'<{p}row((?: [A-Za-z][A-Za-z0-9:]*="[^"<&\x00-\x1f]*")*+)\s*>'
# What makes any of this something else than it looks like.
OTHER = (b"<!", b"<?", b"]]>")
# Bytes that are held back until a row in them ends.
MOST_HELD = 2**19
MEANINGLESS = (ValueError, IndexError, OverflowError)


class NotPlainError(ValueError):
    """A row has a cell that is written in another way."""


@dataclass
class PlainRow:
    """A row that was read. texts: by column, counted from 1. cells, filled: how many there are, and with a value."""

    texts: dict[int, str] = field(default_factory=dict)
    cells: int = 0
    filled: int = 0
    errors: int = 0
    uncached: int = 0
    last: int = 0


@dataclass(frozen=True)
class CellMarkup:
    """Of each cell of a row what its markup says. uncached: formulas without a value."""

    letters: list[str | None]
    styles: list[str | None]
    kinds: list[str | None]
    values: list[str | None]
    uncached: int = 0


class PlainRows:
    """Takes plain rows out of a sheet's markup. mark: the attribute that names them in the empty rows left there."""

    def __init__(self, texts: CellTexts) -> None:
        self.mark = f"row{uuid4().hex}"
        self._texts = texts
        self._rows: dict[str, PlainRow] = {}
        # Of the row before, in which columns its cells lie: most rows have the same.
        self._letters: list[str | None] = []
        self._columns: list[int] = []
        self._held = b""
        # Of the part's beginning: whether it was seen, and whether rows can be told in what follows.
        self._begun = self._is_known = False
        self._prefix, self._prolog = "", 0

    def without_rows(self, piece: bytes) -> bytes:
        """The next piece of the markup, as far as rows in it have ended; after the last piece an empty one."""
        data, self._held = self._held + piece, b""
        self._rows = {}
        if not self._begun:
            self._begin(data)
        if not self._is_known or not piece:
            return data
        end = f"</{self._prefix}row>".encode()
        cut = data.rfind(end) + len(end) if end in data else 0
        is_other = any(data.find(mark, self._prolog) >= 0 for mark in OTHER)
        self._is_known = not is_other and len(data) - cut <= MOST_HELD
        self._prolog = 0
        try:
            chunks = data[:cut].decode().split(end.decode()) if self._is_known else []
        except UnicodeDecodeError:
            self._is_known = False
        if not self._is_known:
            return data
        self._held = data[cut:]
        return "".join(map(self._without_row, chunks[:-1])).encode()

    def taken(self, number: str) -> PlainRow:
        """A row by the value of its mark."""
        return self._rows[number]

    def _begin(self, data: bytes) -> None:
        self._begun = True
        sheet = SHEET.match(data)
        if sheet:
            self._is_known, self._prefix, self._prolog = True, sheet[1].decode(), sheet.start(1)
            self._row = re.compile(ROW.format(p=self._prefix))
            self._cell = re.compile(CELL.format(p=self._prefix))
            self._any_cell = re.compile(ANY_CELL.format(p=self._prefix))

    def _without_row(self, chunk: str) -> str:
        """chunk: what stands before a row's end. With an empty row in the place of a plain one."""
        start = max(0, chunk.rfind(f"<{self._prefix}row"))
        row = self._row.match(chunk, start)
        if row:
            try:
                plain = self._read(chunk[row.end() :])
            except MEANINGLESS:
                row = None
        if not row:
            return f"{chunk}</{self._prefix}row>"
        number = str(len(self._rows))
        self._rows[number] = plain
        return f'{chunk[:start]}<{self._prefix}row{row[1]} {self.mark}="{number}"/>'

    def _read(self, markup: str) -> PlainRow:
        """The cells of a row. Raises NotPlainError, or what a value raises that is none of its kind."""
        try:
            letters, styles, kinds, values = _groups(self._cell, markup)
            cells = CellMarkup(letters, styles, kinds, values)
        except NotPlainError:
            cells = _any_cells(_groups(self._any_cell, markup))
        if cells.letters != self._letters:
            self._letters, self._columns = cells.letters, _columns(cells.letters)
        row, text_of = PlainRow(cells=len(cells.letters), uncached=cells.uncached), self._texts.text
        for column, style, kind, value in zip(
            self._columns, cells.styles, cells.kinds, cells.values, strict=True
        ):
            if value:
                row.filled += 1
                text = text_of(kind or "n", style or "", unescape(value) if "&" in value else value)
                if text:
                    row.texts[column] = text
                elif text is None:
                    row.errors += 1
        row.last = self._columns[-1] if self._columns else 0
        return row


def _groups(cell: re.Pattern[str], markup: str) -> list[list[str | None]]:
    """What each group of an expression has of each cell. Raises NotPlainError for markup that is more than cells."""
    parts, step = cell.split(markup), cell.groups + 1
    if any(parts[::step]):
        raise NotPlainError
    return [parts[group::step] for group in range(1, step)]


def _any_cells(groups: list[list[str | None]]) -> CellMarkup:
    letters, before, kinds, after, formulas, values, own = groups
    if any(style and later for style, later in zip(before, after, strict=True)):
        raise NotPlainError
    if any(kind == "e" and not value for kind, value in zip(kinds, values, strict=True)):
        raise NotPlainError
    styles = [style or later for style, later in zip(before, after, strict=True)]
    given = [
        text if kind == "inlineStr" else value for kind, value, text in zip(kinds, values, own, strict=True)
    ]
    uncached = sum(bool(formula and not value) for formula, value in zip(formulas, given, strict=True))
    return CellMarkup(letters, styles, kinds, given, uncached)


def _columns(letters: list[str | None]) -> list[int]:
    """In which column each cell lies, counted from 1: without an address, after the one before it.

    Raises ValueError for one that no sheet has.
    """
    columns, column = [], 0
    for each in letters:
        column = column_index_from_string(each) if each else column + 1
        columns.append(column)
    return columns
