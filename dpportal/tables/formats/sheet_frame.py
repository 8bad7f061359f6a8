"""Cuts the table from the rows of a sheet: rows of titles are passed over, rows of names become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from dpportal.tables.formats.empty_columns import SheetCells, named_columns, used_columns
from dpportal.tables.formats.frame import SAMPLE_LINES, Line, usual_width, with_top
from dpportal.tables.meaning.parse_options import ReadOptions

# Each with its number, and its texts by column, both counted from 1.
SheetRows = Iterator[tuple[int, SheetCells]]


def resolved_top(rows: SheetRows, options: ReadOptions) -> tuple[ReadOptions, SheetRows]:
    """The options with the rows above the table where nobody declared them, and all the rows once more."""
    if options.title_lines is not None and options.header_lines is not None:
        return options, rows
    first = list(islice(rows, SAMPLE_LINES))
    lines = sampled([(number, cells) for number, cells in first if number > (options.title_lines or 0)])
    return with_top(options, lines, usual_width(lines)), chain(first, rows)


def sampled(rows: Sequence[tuple[int, SheetCells]]) -> list[Line]:
    """Rows that say something as lines, all as wide as the widest, without the columns that are empty."""
    columns = used_columns([cells for _number, cells in rows])
    return [Line(number - 1, number, _fields(cells, columns)) for number, cells in rows if cells]


def _fields(cells: SheetCells, columns: Sequence[int]) -> list[str]:
    """The texts in these columns; a title that stands beside them is in the first."""
    fields = [cells.get(column, "") for column in columns]
    return fields if any(fields) else [*cells.values(), *fields[1:]]


def only_used_columns(rows: SheetRows, *, by_names: bool) -> SheetRows:
    """The rows without the columns to which neither the names nor the first rows below them say anything.

    by_names: whether the names alone decide, as in a further file, where no row decides how another is read.
    A sheet's table may begin in its second column; one of a single column does not. Where a later row has a value in a
    column that was left out, it has one behind the last column.
    """
    first = list(islice(rows, 1 if by_names else SAMPLE_LINES))
    last = max(first[0][1], default=0) if first else 0
    used = [column for column in used_columns([cells for _number, cells in first]) if column <= last]
    places = {column: place for place, column in enumerate(used, 1)}
    is_cover = len(places) < 2  # texts in one column are no table
    if is_cover or all(column == place for column, place in places.items()):
        return chain(first, rows)
    behind = len(places) + 1
    return (
        (number, {places.get(column, behind): text for column, text in cells.items()})
        for number, cells in chain(first, rows)
    )


def below_titles(rows: SheetRows, options: ReadOptions, columns: int) -> SheetRows:
    """The rows that say something from the names on, these joined to one.

    options: settled as to the top. columns: of the table of which these are further rows, else 0.
    """
    below = (row for row in rows if row[1] and row[0] > (options.title_lines or 0))
    first = next(below, None) if options.header else None
    if first is None:
        return below
    last = first[0] + (options.header_lines or 1) - 1
    names, further = [first[1]], []
    if last > first[0]:
        for row in below:
            if row[0] > last:
                further = [row]
                break
            names.append(row[1])
    sample = list(islice(chain(further, below), SAMPLE_LINES))
    used = used_columns([cells for _number, cells in sample])
    return chain([(last, named_columns(names, used, columns))], sample, below)
