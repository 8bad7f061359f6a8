"""Codebooks in CSV: a line for each declared value, perhaps with its label."""

from __future__ import annotations

import csv
import io

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.faults import CodebookError
from dpportal.datasets.codebooks.model import FILLED, categories
from dpportal.platform.json_types import Json

MAX_LENGTH = 1000
FIELDS = ("column", "value", "label", FILLED)
YES = "yes"  # what the last of them says of a value that was taken from data


def read(text: str) -> Json:
    """The values of each column, with their labels where there are any. Columns are parted by commas or semicolons.

    A column is filled from data if one of its lines says so. Raises CodebookError.
    """
    lines = _lines(text)
    longest = max((len(cell) for line in lines for cell in line), default=0)
    header = [cell.strip().lower() for cell in lines[0]] if lines else []
    if len(lines) < 2 or longest > MAX_LENGTH:
        raise _formless()
    if not {"column", "value"} <= set(header) <= set(FIELDS) or len(set(header)) < len(header):
        raise _formless()
    _require_even(lines)
    by_column: dict[str, list[dict[str, str]]] = {}
    for line in lines[1:]:
        cells = dict(zip(header, (cell.strip() for cell in line), strict=True))
        by_column.setdefault(cells["column"], []).append(cells)
    return {name: _entry(cells) for name, cells in by_column.items()}


def _entry(lines: list[dict[str, str]]) -> Json:
    entry = categories([line["value"] for line in lines], [line.get("label", "") for line in lines])
    marks = {line.get(FILLED, "").lower() for line in lines}
    if not marks <= {YES, ""}:
        raise CodebookError(
            _("In a CSV codebook the column “filled_from_data” says “yes” or is left empty. Correct it.")
        )
    return {**entry, FILLED: True} if YES in marks else entry


def _require_even(lines: list[list[str]]) -> None:
    """Raises CodebookError with the place of the first line that has not as many entries as the header."""
    expected = len(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != expected:
            text = _(
                "Of the lines that are not empty, number %(number)s has %(found)s entries, and the header has "
                "%(expected)s. Put an entry that holds the separator in quotes."
            )
            raise CodebookError(text % {"number": number, "found": len(line), "expected": expected})


def _formless() -> CodebookError:
    return CodebookError(
        _(
            "A CSV codebook has two columns, column and value, or a third, label, and perhaps filled_from_data; a "
            "header line that names them so, and a line for each value; all are shorter than 1,000 characters."
        )
    )


def _lines(text: str) -> list[list[str]]:
    header = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    try:
        return [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if line]
    except csv.Error:
        return []
