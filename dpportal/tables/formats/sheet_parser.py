"""The cells of an XLSX sheet that are not empty."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from openpyxl.utils.cell import coordinate_to_tuple
from openpyxl.worksheet._reader import (
    CELL_TAG,
    FORMULA_TAG,
    INLINE_STRING,
    ROW_TAG,
    VALUE_TAG,
    WorkSheetParser,
)

from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.cell_texts import CellTexts, text_of
from dpportal.tables.formats.plain_rows import PlainRow, PlainRows

PIECE_BYTES = 1 << 18
# At the end of a cell's address.
_ROW_OF = re.compile("[0-9]{1,9}$")
# The type of a cell that holds an error, and what the library raises of one whose content is none of its type.
ERROR = "e"
MEANINGLESS = (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError)
# As the parser names elements: without the brace that begins a tag.
CELL, ROW, MERGED = CELL_TAG[1:], ROW_TAG[1:], f"{CELL_TAG[1:-1]}mergeCell"
# What a cell with something inside begins with; after a last cell without, all else of the sheet follows.
INSIDE = {tag[1:] for tag in (VALUE_TAG, FORMULA_TAG, INLINE_STRING)}


@dataclass(frozen=True)
class MostCells:
    """How many cells a sheet may have. blank: without a value. elements: that are not written plainly."""

    blank: int
    elements: int


class SheetParser(WorkSheetParser):  # type: ignore[misc]
    """The library's reading of a cell, with a parser that skips empty cells, and from which plain rows are kept.

    Sheets are often formatted down to their last row: millions of cells, all blank. An element is made only for a cell
    that has one inside. most: how many cells there may be. merged: ranges of merged cells; errors: cells that hold an
    error; uncached: formulas whose result the workbook does not hold; bytes_read: of the sheet's XML. is_further:
    whether a cell whose content is none of its type holds an error, as Excel's own error cells do, and does not make
    the sheet a damaged one.
    """

    def __init__(self, *args: Any, most: MostCells, is_further: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._most, self._is_further = most, is_further
        self.errors = self.uncached = self.bytes_read = 0
        # Of ranges of merged cells, by the last row of each.
        self.merged: Counter[int] = Counter()
        # Cells that were begun, and elements that are none and lie in none; cells with a value; and those of them of
        # which an element was made.
        self._begun = self._filled = self._elements = 0
        self.row_counter: int = 0
        self.col_counter: int = 0
        self._rows: list[tuple[int, dict[int, str]]] = []
        texts = CellTexts(self.shared_strings, self.epoch, self.date_formats, self.timedelta_formats)
        self._plain = PlainRows(texts)
        # The cell that was begun last: its attributes, and its element once it turned out to hold something.
        self._attributes: dict[str, str] | None = None
        self._element: TreeBuilder | None = None
        # The address of the last blank cell that has one; it is read only if a later cell has none.
        self._blank = ""
        self._expat = expat.ParserCreate(namespace_separator="}")
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._begin
        self._expat.StartDoctypeDeclHandler = refuse_doctype

    def parse(self) -> Iterator[tuple[int, dict[int, str]]]:
        """Each row's number and its texts by column, both counted from 1; empty cells are left out.

        Raises ValueError, KeyError, IndexError or expat.ExpatError for a damaged sheet, UploadFault for one that has
        more cells than there may be.
        """
        while piece := self.source.read(PIECE_BYTES):
            self.bytes_read += len(piece)
            self._expat.Parse(self._plain.without_rows(piece), False)
            self._check_numbers()
            # The last row may go on in the next piece.
            yield from self._rows[:-1]
            del self._rows[:-1]
        self._expat.Parse(self._plain.without_rows(b""), True)
        self._check_numbers()
        yield from self._rows

    def _check_numbers(self) -> None:
        """Raise UploadFault for more cells than there may be."""
        if self._begun - self._filled > self._most.blank:
            raise _too_many_blank(self._most.blank)
        if self._elements > self._most.elements:
            raise too_many_cells(self._most.elements)

    def parse_cell(self, element: Element) -> dict[str, Any]:
        cell = self._parsed(element)
        self.uncached += cell["value"] is None and element.find(FORMULA_TAG) is not None
        return cell

    def _parsed(self, element: Element) -> dict[str, Any]:
        column = self.col_counter
        try:
            return dict(super().parse_cell(element))
        except MEANINGLESS:
            if not self._is_further:
                raise
        # Its content is passed over; where it lies must be right all the same.
        self.col_counter = column
        element.set("t", ERROR)
        return dict(super().parse_cell(element))

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if self._element is not None:
            self._element.start(f"{{{name}", attributes)
        elif name == CELL:
            self._begun += 1
            self._pass_over()
            self._attributes = attributes
        elif name == ROW:
            self._attributes, self._blank = None, ""
            self.row_counter = _integer(attributes["r"]) if "r" in attributes else self.row_counter + 1
            self.col_counter = 0
            self._rows.append((self.row_counter, {}))
            if self._plain.mark in attributes:
                self._take(self._plain.taken(attributes[self._plain.mark]))
        elif name == MERGED:
            self.merged[_last_row(attributes.get("ref", ""))] += 1
        elif self._attributes is not None and self._rows and name in INSIDE:
            self._element = TreeBuilder()
            self._element.start(CELL_TAG, self._attributes)
            self._element.start(f"{{{name}", attributes)
            self._expat.CharacterDataHandler = self._element.data
            self._expat.EndElementHandler = self._end
        else:
            self._begun += 1

    def _take(self, row: PlainRow) -> None:
        """What a plain row holds, as the row that was just begun."""
        self._rows[-1][1].update(row.texts)
        self.col_counter = row.last
        self._begun += row.cells
        self._filled += row.filled
        self.errors += row.errors
        self.uncached += row.uncached

    def _end(self, name: str) -> None:
        assert self._element is not None
        self._element.end(f"{{{name}")
        if name == CELL:
            self._expat.CharacterDataHandler = self._expat.EndElementHandler = None
            element, self._element, self._attributes = self._element.close(), None, None
            self._catch_up()
            cell = self.parse_cell(element)
            self._elements += 1
            self._filled += cell["value"] is not None
            if cell["data_type"] == ERROR:
                self.errors += 1
            elif text := text_of(cell["value"]):
                self._rows[-1][1][cell["column"]] = text

    def _pass_over(self) -> None:
        """Where the cell after a blank one lies, if that one's element does not say."""
        if self._attributes is None:
            return
        if address := self._attributes.get("r"):
            self._blank = address
        else:
            self._catch_up()
            self.col_counter += 1

    def _catch_up(self) -> None:
        if self._blank:
            self.col_counter = coordinate_to_tuple(self._blank)[1]
            self._blank = ""


def too_many_cells(most: int) -> UploadFault:
    """The refusal of a sheet with more cells than may be read."""
    return UploadFault(
        "unfolds",
        f"This workbook has more than {most:,} cells, far more than a table in a file of its size, so a program filled "
        "it. Save the table as CSV and upload that file.",
    )


def _too_many_blank(most: int) -> UploadFault:
    return UploadFault(
        "unfolds",
        f"This workbook has more than {most:,} empty cells, far more than a sheet in a file of its size, so a program "
        "filled it. Delete the empty rows and columns, or save the table as CSV.",
    )


def _integer(text: str) -> int:
    """A row's number as an integer; some programs write 3.0."""
    number = float(text)
    if not number.is_integer():
        raise ValueError
    return int(number)


def _last_row(ref: str) -> int:
    """The last row of a range such as B3:C4; 0 if it names none."""
    match = _ROW_OF.search(ref)
    return int(match[0]) if match else 0


def refuse_doctype(*_: object) -> NoReturn:
    """Refuse a document type: no workbook has one, and its entities could unfold without end."""
    raise ValueError
