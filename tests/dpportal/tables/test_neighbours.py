"""Neighbours of small tables whose rows are counted by person: whatever the key draws, one person moves the counts by
no more than the declared rows, and a row that names nobody moves nothing."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Persons, ReadOptions, count_cells, count_tables, packed_rows
from dpportal.tables.layout import NAMES_KEY, names_metadata, text_name
from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.sensitivity import histogram_sensitivity

DOMAIN = Domain((Integer("x", lower=0, upper=2),))
OPTIONS = ReadOptions(missing=("-",)).settled()
KEYS = (b"one", b"two")
NOBODY = [("", 0), (" ", 1), ("-", 1), ("NA", 1), ("nan", 0)]
# Rows are those of a person and of a cell each. The neighbours' own rows come last, so that a key draws alike before.
TABLES = [[], [*NOBODY[:2], ("a", 0), ("a", 1), ("b", 0), ("b", 1)]]
OWN = [[("c", 0)], [("c", 0), ("c ", 1), ("c", 2)], NOBODY[:1], NOBODY[1:]]
Rows = list[tuple[str, int]]


def _path(folder, rows: Rows):
    path = folder / "table.parquet"
    columns = {text_name(0): [who or None for who, _x in rows], text_name(1): [str(x) for _who, x in rows]}
    table = pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
    pq.write_table(table.replace_schema_metadata({NAMES_KEY: names_metadata(["who", "x"])}), path)
    return path


def _cells(path, persons, key):
    return count_cells(path, DOMAIN, OPTIONS, persons=persons, key=key)


def _tables(path, persons, key):
    return count_tables(path, DOMAIN, [("x",)], OPTIONS, persons=persons, key=key)


def _packed(path, persons, key):
    packed = packed_rows(path, DOMAIN, OPTIONS, persons=persons, key=key)
    cells = WholeRows(DOMAIN.shape).among(packed, [0])
    return np.bincount(cells, minlength=DOMAIN.size)


def _drawn(count, folder, rows: Rows, most: int) -> list[np.ndarray]:
    """The counts by each key, alike in all tables."""
    path = _path(folder, rows)
    return [count(path, Persons("who", most), key) for key in KEYS]


@pytest.mark.slow
@pytest.mark.parametrize("count", [_cells, _tables, _packed], ids=["cells", "tables", "packed"])
def test_one_person_moves_the_counts_by_the_declared_rows_at_most(tmp_path, count):
    most = 1
    added = histogram_sensitivity(PrivacyUnit(max_rows=most)).l1
    replaced = histogram_sensitivity(PrivacyUnit(Neighbours.REPLACE_ONE, most, may_be_absent=True)).l1
    assert (added, replaced) == (1, 2)
    for rows in TABLES if count is _cells else TABLES[1:]:
        without = _drawn(count, tmp_path, rows, most)
        each = [_drawn(count, tmp_path, rows + own, most) for own in OWN]
        for found, own in zip(each, OWN, strict=True):
            moved = [np.abs(one - other).sum() for one, other in zip(found, without, strict=True)]
            assert max(moved) <= (added if own[0][0] == "c" else 0), (rows, own)
        for one, other in product(each, each):
            assert max(np.abs(a - b).sum() for a, b in zip(one, other, strict=True)) <= replaced


def _loss(one: Counter, other: Counter, epsilon: float) -> float:
    """The largest logarithm of how chances of noisy counts differ, both ways; exact where noise is discrete Laplace."""
    found = 0.0
    for y in product(range(-4, 6), repeat=len(next(iter(one)))):
        chances = [
            sum(
                n / times.total() * math.exp(-epsilon * np.abs(np.subtract(y, x)).sum())
                for x, n in times.items()
            )
            for times in (one, other)
        ]
        found = max(found, abs(math.log(chances[0] / chances[1])))
    return found


@pytest.mark.slow
def test_somebody_without_an_identifier_moves_the_draw_of_nobody_else(tmp_path):
    """Where such rows were one person together, the loss was ln((1 + e^2)/2) = 1.43 at ε = 1."""
    together = Counter({(1, 0): 1, (0, 1): 1})
    assert _loss(Counter({(1, 0): 1}), together, 1.0) == pytest.approx(math.log((1 + math.e**2) / 2))
    before, after = (
        Counter(tuple(counts) for counts in _drawn(_cells, tmp_path, rows, 1))
        for rows in (NOBODY[:1], NOBODY[:2])
    )
    assert _loss(before, after, 1.0) == 0.0
