"""The noisy tables of pairs as they were measured, with intervals: for everyone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.csv_frames import write_frame
from dpportal.publications.headers import Headers
from dpportal.publications.label_columns import written
from dpportal.publications.table import Table
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain
from mechanisms.microdata.plan import MeasuredTable, MicrodataResult
from mechanisms.microdata.tables import Grouping

# Cells of a measured table that a page shows, those with most people; all are in the file.
MOST_SHOWN = 12
# Values that are named of a group whose values are no neighbours.
MOST_NAMED = 3
# Follows the name of a group that another one has already.
TOGETHER = " (together)"

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
    counts, groups = _counts(domain, result), _groups(domain, result.grouping)
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
    labels = _labels(domain, result.grouping)
    return [
        {
            "columns": [domain.names[j] for j in table.pair],
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


def _counts(domain: Domain, result: MicrodataResult) -> pd.DataFrame:
    assert result.grouping is not None
    labels = _written_labels(domain, result.grouping)
    return pd.concat([_frame(domain, labels, n, table) for n, table in enumerate(result.tables, 1)])


def _frame(domain: Domain, labels: list[list[str]], number: int, table: MeasuredTable) -> pd.DataFrame:
    a, b = table.pair
    counts = table.values.ravel()
    return pd.DataFrame(
        {
            "measurement": number,
            "first": domain.names[a],
            "first_group": np.repeat(np.array(labels[a], dtype=object), len(labels[b])),
            "second": domain.names[b],
            "second_group": np.tile(np.array(labels[b], dtype=object), len(labels[a])),
            "noisy_count": counts,
            "interval_lower": counts - table.half_width,
            "interval_upper": counts + table.half_width,
        }
    )


def _groups(domain: Domain, grouping: Grouping) -> pd.DataFrame:
    frames = []
    for attribute, groups, labels in zip(
        domain.attributes, grouping.groups, _written_labels(domain, grouping), strict=True
    ):
        of_value = [labels[group] for group in groups.tolist()]
        frames.append(
            pd.DataFrame(
                {
                    "column": attribute.name,
                    "value": written(attribute, attribute.labels()),
                    "group": of_value,
                }
            )
        )
    return pd.concat(frames)


def _labels(domain: Domain, grouping: Grouping) -> list[list[str]]:
    return [group_labels(a, groups) for a, groups in zip(domain.attributes, grouping.groups, strict=True)]


def _written_labels(domain: Domain, grouping: Grouping) -> list[list[str]]:
    """As files have them: a group of missing values alone is an empty field."""
    names_of_groups = _labels(domain, grouping)
    for attribute, groups, labels in zip(domain.attributes, grouping.groups, names_of_groups, strict=True):
        if attribute.missing_cell and (groups == groups[-1]).sum() == 1:
            labels[groups[-1]] = ""
    return names_of_groups


def group_labels(attribute: Attribute, groups: Integers) -> list[str]:
    """A name for each group of an attribute's cells; one of several values never has that of another group.

    Two could be alike where a value is written with commas, as “a, b” beside the values a and b together.
    """
    names = attribute.labels()
    members = [np.flatnonzero(groups == group).tolist() for group in range(int(groups.max()) + 1)]
    names_of_groups = [
        _named([names[cell] for cell in cells], neighbours=attribute.ordered) for cells in members
    ]
    taken = {name for name, cells in zip(names_of_groups, members, strict=True) if len(cells) == 1}
    for group, cells in enumerate(members):
        if len(cells) > 1:
            while names_of_groups[group] in taken:
                names_of_groups[group] += TOGETHER
            taken.add(names_of_groups[group])
    return names_of_groups


def _named(values: list[str], *, neighbours: bool) -> str:
    if len(values) == 1:
        return values[0]
    if neighbours:
        return f"{values[0]} … {values[-1]}"
    more = f" + {len(values) - MOST_NAMED}" if len(values) > MOST_NAMED else ""
    return listed(values[:MOST_NAMED]) + more
