"""Columns that say nothing: a table may end each line with a delimiter, or have blank columns between others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from dpportal.tables.formats.frame import Line, filled, joined_names

# The texts of a row by column; empty cells are left out.
SheetCells = dict[int, str]


def used_columns(rows: Sequence[Collection[int]]) -> list[int]:
    """The columns in which rows say something; a row of one text, such as a title, decides on none.

    rows: of each the columns in which it says something.
    """
    several = [columns for columns in rows if len(columns) > 1]
    return sorted(set[int]().union(*(several or rows)))


def cells_of(fields: Sequence[str]) -> SheetCells:
    """The texts of a line by their places, counted from 0."""
    return {column: text for column, text in enumerate(fields) if text.strip()}


def named_columns(rows: Sequence[SheetCells], used: Sequence[int], columns: int) -> SheetCells:
    """The names of columns that stand in rows. One without values has no name that only reaches over it.

    used: the columns with values. columns: of the table of which these are further rows, 0 for an upload: then their
    number says whether a name has only to reach over columns, and no row does.
    """
    named = set(chain.from_iterable(rows))
    last = max(named, default=0)
    if columns:
        used = [] if len(named) == columns else range(last)
    places = sorted(named.union(column for column in used if column < last))
    names = joined_names([[cells.get(place, "") for place in places] for cells in rows])
    return {place: name for place, name in zip(places, names, strict=True) if name}


def without_empty_columns(lines: Sequence[Line]) -> list[Line]:
    """The lines without the columns that are empty in all of them; a title that stands in one is in the first."""
    used = used_columns([cells_of(line.fields) for line in lines])
    return [line._replace(fields=_of_columns(line.fields, used)) for line in lines]


def _of_columns(fields: Sequence[str], columns: Sequence[int]) -> list[str]:
    texts = [fields[column] for column in columns if column < len(fields)]
    if filled(fields) and not filled(texts):
        return [next(filter(str.strip, fields)), *texts[1:]]
    return texts
