"""Exact sums of numeric columns of a stored table, by groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.counted_rows import counted_rows
from dpportal.tables.counting import cells_of_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain

# How many have a value, Σv, Σv², how many have none, how many are at v = 0, at v = W.
POWERS = 6


def power_sums(
    path: FilePath,
    groups: Domain,
    readings: Sequence[Attribute],
    options: ReadOptions | None = None,
    *,
    persons: Persons | None = None,
    key: bytes | None = None,
) -> np.ndarray:
    """Exact power sums of columns by groups, (columns, groups, 6) Python integers, in one pass.

    readings: columns whose cell is what is added up, and whose last cell is for missing values. Which rows count: as
    for `count_tables`.
    """
    domain = Domain((*groups.attributes, *readings))
    first = len(groups.attributes)
    sums = np.zeros((len(readings), groups.size, POWERS), dtype=object)
    for batch in counted_rows(path, domain.attributes, options, persons, key):
        group = cells_of_table([batch.column(place) for place in range(first)], groups.shape, batch.rows)
        for place, (own, reading) in enumerate(zip(sums, readings, strict=True), first):
            # A batch's sums fit 64 bits, those of all batches need not.
            own += _batch(group, batch.column(place), reading.regular_size, groups.size).astype(object)
    return sums


def _batch(group: Integers, cell: Integers, values: int, groups: int) -> Integers:
    """(groups, 6) sums over some rows. values: how many values there are, 0..W; the cell after them is for none."""
    there = cell < values
    own, v = (group, cell) if there.all() else (group[there], cell[there])
    number, first, second, low, high = (
        # Floats, which hold whole numbers exactly up to 2^53: more than so few rows of so few steps come to.
        np.bincount(own, weights, groups)
        for weights in (None, v, v * v, v == 0, v == values - 1)
    )
    missing = np.bincount(group, minlength=groups) - number
    return np.stack([number, first, second, missing, low, high], axis=1).astype(np.int64)
