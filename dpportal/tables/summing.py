"""Exact sums of numeric columns of a stored table, by groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.counting import cells_in_batches, counted_rows
from dpportal.tables.engines.duckdb.session import stored_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.sources import RowSource, every_cell
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
    with stored_table(path) as connection:
        rows = RowSource(connection, path, (options or ReadOptions()).settled(), domain.attributes)
        with counted_rows(rows, every_cell(domain), persons, key) as parts:
            for columns in cells_in_batches(connection, parts, len(domain.attributes)):
                group = _group(columns[:first], groups)
                for own, cell, reading in zip(sums, columns[first:], readings, strict=True):
                    # A batch's sums fit 64 bits, those of all batches need not.
                    own += _batch(group, cell, reading.regular_size, groups.size).astype(object)
    return sums


def _group(columns: Integers, groups: Domain) -> Integers:
    """Each row's group, in C order."""
    group = np.zeros(columns.shape[1], dtype=np.int64)
    for column, size in zip(columns, groups.shape, strict=True):
        group = group * size + column
    return group


def _batch(group: Integers, cell: Integers, values: int, groups: int) -> Integers:
    """(groups, 6) sums over some rows. values: how many values there are, 0..W; the cell after them is for none."""
    there = cell < values
    own, v = group[there], cell[there]
    sums = np.zeros((groups, POWERS), dtype=np.int64)
    adds = (np.ones_like(v), v, v * v, None, v == 0, v == values - 1)
    for place, added in enumerate(adds):
        if added is not None:
            np.add.at(sums[:, place], own, added)
    np.add.at(sums[:, 3], group[~there], 1)
    return sums
