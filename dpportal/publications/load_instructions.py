"""What a README's example of reading a file shows: an estimate with its interval, from the file that has both."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass

from dpportal.publications.table import Table

LOWER = "interval_lower"
# What files call the number that an interval is about.
ESTIMATES = ("noisy_count", "answer", "estimate", "released_count")


@dataclass(frozen=True)
class EstimateColumn:
    """A file, and the column of its estimates."""

    file: str
    estimate: str


def measured_in(tables: Iterable[Table]) -> EstimateColumn | None:
    """The first file that has estimates with intervals; None where nothing has one, as of a choice.

    A method that can state no interval leaves the column of them empty.
    """
    for table in tables:
        names = [field["name"] for field in table.fields]
        if LOWER in names and _first_line(table).get(LOWER):
            return EstimateColumn(table.path.name, next(name for name in ESTIMATES if name in names))
    return None


def _first_line(table: Table) -> dict[str, str]:
    """The first line under the header; empty if there is none."""
    with table.path.open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file), {})
