"""The noisy tables of pairs as they were measured, with intervals: for everyone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpportal.charts.cell_names import named
from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from mechanisms.domain import Domain
from mechanisms.microdata.files import group_frame, labels_of_groups, table_counts
from mechanisms.microdata.plan import MeasuredTable, MicrodataResult
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.headers import Headers

# Cells of a measured table that a page shows, those with most people; all are in the file.
MOST_SHOWN = 12

# A measured count, of a single column or of a table.
COUNT_FIELDS = [
    {"name": "noisy_count", "type": "integer", "title": "Count with noise; may be negative"},
    {
        "name": "interval_lower",
        "type": "integer",
        "title": "Lower end of the margin (95 %) of the true count",
    },
    {
        "name": "interval_upper",
        "type": "integer",
        "title": "Upper end of the margin (95 %) of the true count",
    },
]
GROUP_FIELDS = [
    {"name": "column", "type": "string"},
    {"name": "value", "type": "string"},
    {"name": "group", "type": "string", "title": "The group of values in which it was counted with others"},
]
TABLE_FIELDS = [
    {"name": "measurement", "type": "integer", "title": "Number of the measured table"},
    {"name": "first", "type": "string", "title": "Column"},
    {"name": "first_group", "type": "string"},
    {"name": "second", "type": "string", "title": "Column"},
    {"name": "second_group", "type": "string"},
    *COUNT_FIELDS,
]


def write(domain: Domain, result: MicrodataResult, headers: Headers, folder: Path) -> list[Table]:
    """The measured tables and the groups of values that they count; nothing where no pair was measured."""
    if result.grouping is None:
        return []
    counts, groups = table_counts(domain, result), group_frame(domain, result.grouping)
    frames = {
        "measured.csv": headers.within(counts, "first", "second"),
        "groups.csv": headers.within(groups, "column"),
    }
    for name, frame in frames.items():
        write_frame(frame, folder / name)
    return [
        Table(
            folder / "measured.csv", "The measured tables of two columns, with margins (95 %)", TABLE_FIELDS
        ),
        Table(folder / "groups.csv", "Which values the measured tables count together", GROUP_FIELDS),
    ]


def shown(domain: Domain, result: MicrodataResult) -> list[Json]:
    """Every measured table with its largest counts, as JSON."""
    if result.grouping is None:
        return []
    labels = list(map(named, labels_of_groups(domain, result.grouping)))
    return [
        {
            "columns": [domain.shown_names[j] for j in table.pair],
            "cells": table.values.size,
            "margin": table.half_width,
            "lines": _largest(table, labels),
        }
        for table in result.tables
    ]


def _largest(table: MeasuredTable, labels: list[list[str]]) -> list[list[object]]:
    places = np.argsort(-table.values, axis=None, kind="stable")[:MOST_SHOWN]
    a, b = table.pair
    counts = [(labels[a][x], labels[b][y], int(table.values[x, y])) for x, y in _cells(table, places)]
    return [[x, y, n] for x, y, n in counts]


def _cells(table: MeasuredTable, places: np.ndarray) -> list[tuple[int, int]]:
    first, second = np.unravel_index(places, table.values.shape)
    return list(zip(first.tolist(), second.tolist(), strict=True))
