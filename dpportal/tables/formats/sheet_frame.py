"""Cuts the table from the rows of a sheet: rows of titles are passed over, rows of names become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from dpportal.tables.formats.frame import SAMPLE_LINES, Line, joined_names, usual_width, with_top
from dpportal.tables.meaning.parse_options import ReadOptions

# The texts of a row by column, counted from 1; empty cells are left out.
Cells = dict[int, str]
Rows = Iterator[tuple[int, Cells]]


def resolved_top(rows: Rows, options: ReadOptions) -> tuple[ReadOptions, Rows]:
    """The options with the rows above the table where nobody declared them, and all the rows once more."""
    if options.title_lines is not None and options.header_lines is not None:
        return options, rows
    first = list(islice(rows, SAMPLE_LINES))
    lines = sampled([(number, cells) for number, cells in first if number > (options.title_lines or 0)])
    return with_top(options, lines, usual_width(lines)), chain(first, rows)


def sampled(rows: Sequence[tuple[int, Cells]]) -> list[Line]:
    """Rows that say something as lines, all as wide as the widest."""
    told = [(number, cells) for number, cells in rows if cells]
    width = max((max(cells) for _number, cells in told), default=0)
    return [
        Line(number - 1, number, [cells.get(place, "") for place in range(1, width + 1)])
        for number, cells in told
    ]


def below_titles(rows: Rows, options: ReadOptions) -> Rows:
    """The rows that say something from the names on, these joined to one. options: settled as to the top."""
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
    return chain([(last, _joined(names))], further, below)


def _joined(rows: Sequence[Cells]) -> Cells:
    width = max(max(cells) for cells in rows)
    names = joined_names([[cells.get(place, "") for place in range(1, width + 1)] for cells in rows])
    return {place: name for place, name in enumerate(names, 1) if name}
