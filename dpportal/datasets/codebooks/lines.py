"""Codebooks in CSV: a line for each declared value, perhaps with its label."""

from __future__ import annotations

import csv
import io
from typing import Any

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.book import categories
from dpportal.datasets.codebooks.faults import CodebookError

MAX_LENGTH = 1000


def read(text: str) -> dict[str, Any]:
    """The values of each column, with their labels where there are any. Columns are parted by commas or semicolons."""
    lines = _lines(text)
    longest = max((len(cell) for line in lines for cell in line), default=0)
    widths = {len(line) for line in lines}
    if len(lines) < 2 or longest > MAX_LENGTH or widths not in ({2}, {3}):
        raise CodebookError(
            _(
                "A CSV codebook has two columns, column and value, or a third, label; a header line, and a line for "
                "each value; all are shorter than 1,000 characters."
            )
        )
    entries: dict[str, Any] = {}
    for name, *said in lines[1:]:
        entries.setdefault(name.strip(), []).append([text.strip() for text in said])
    return {
        name: categories([v for v, *_ in said], [line[-1] for line in said]) for name, said in entries.items()
    }


def _lines(text: str) -> list[list[str]]:
    header = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    try:
        return [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if line]
    except csv.Error:
        return []
