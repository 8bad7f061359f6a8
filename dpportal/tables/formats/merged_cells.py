"""Ranges of merged cells of a sheet, and their values filled down where that is declared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import IO, NamedTuple

from openpyxl.utils.cell import column_index_from_string

from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.empty_columns import SheetCells
from dpportal.tables.formats.sheet_frame import SheetRows

PIECE_BYTES = 1 << 18
# Longer than an element with its range is written.
OVERLAP_BYTES = 200
RANGE = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^<>]{0,100}?\bref\s*=\s*[\"']([A-Z]{1,3})([0-9]{1,7}):[A-Z]{1,3}([0-9]{1,7})[\"']"
)
# Each is held in memory while the rows pass by.
MOST_RANGES = 100_000


class MergedColumn(NamedTuple):
    """The first column of a range that reaches over several rows. column, first, last: counted from 1."""

    column: int
    first: int
    last: int


def merged_columns(sheet: IO[bytes]) -> list[MergedColumn]:
    """Those of a sheet's markup, which lists them below all rows. Raises UploadFault for too many."""
    merged: list[MergedColumn] = []
    rest = b""
    while piece := sheet.read(PIECE_BYTES):
        text, read_to = rest + piece, 0
        for match in RANGE.finditer(text):
            letters, first, last = match[1].decode(), int(match[2]), int(match[3])
            read_to = match.end()
            if last > first:
                merged.append(MergedColumn(column_index_from_string(letters), first, last))
        if len(merged) > MOST_RANGES:
            raise _too_many_ranges()
        rest = text[max(read_to, len(text) - OVERLAP_BYTES) :]
    return merged


def filled_down(rows: SheetRows, merged: Callable[[], list[MergedColumn]], *, has_names: bool) -> SheetRows:
    """The rows below the names, in which each cell below the first of a range has that one's value.

    A row without a value of its own stays blank. merged: asked once the first row is there. has_names: whether the
    first row has them, of which no row has a value.
    """
    starts: dict[int, list[MergedColumn]] = defaultdict(list)
    held: dict[int, tuple[int, str]] = {}
    for place, (number, cells) in enumerate(rows):
        if not place:
            for each in merged():
                starts[each.first].append(each)
        is_named = has_names and not place
        yield number, dict(cells) if is_named else _filled(number, cells, held)
        for each in [] if is_named else starts.pop(number, []):
            if each.column in cells:
                held[each.column] = (each.last, cells[each.column])


def _filled(number: int, cells: SheetCells, held: dict[int, tuple[int, str]]) -> SheetCells:
    ended = [column for column, (last, _text) in held.items() if last < number]
    for column in ended:
        del held[column]
    if not cells:
        return cells
    return {column: text for column, (_last, text) in held.items()} | cells


def _too_many_ranges() -> UploadFault:
    return UploadFault(
        "unfolds",
        f"This sheet has more than {MOST_RANGES:,} merged ranges of cells, too many to fill down. Take the merging "
        "away in the sheet, or read it without filling down.",
    )
