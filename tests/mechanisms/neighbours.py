"""All neighbours of a table with few cells, for every kind of unit: what brute force goes through."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from mechanisms.accounting import Neighbours, PrivacyUnit

UNITS = (
    PrivacyUnit(),
    PrivacyUnit(max_rows=2),
    PrivacyUnit(Neighbours.REPLACE_ONE),
    PrivacyUnit(Neighbours.REPLACE_ONE, may_be_absent=True),
    PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2),
    PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=3),
)


def name(unit: PrivacyUnit) -> str:
    absent = ", may be absent" if unit.may_be_absent else ""
    return f"{unit.neighbours} m={unit.max_rows}{absent}"


@lru_cache
def people(rows: int, kinds: int) -> np.ndarray:
    """(k, kinds) every way that at most `rows` rows fall into so many kinds of row."""
    chosen = [c for n in range(rows + 1) for c in combinations_with_replacement(range(kinds), n)]
    return np.array([np.bincount(c, minlength=kinds) for c in chosen], dtype=np.int64)


@lru_cache
def pairs(unit: PrivacyUnit, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """(k, kinds) each: a person's rows in a table, and in its neighbour."""
    if unit.total_public:
        rows = np.eye(kinds, dtype=np.int64)
        return np.repeat(rows, kinds, axis=0), np.tile(rows, (kinds, 1))
    rows = people(unit.max_rows, kinds)
    if unit.neighbours is Neighbours.ADD_REMOVE:
        none = np.zeros_like(rows)
        return np.vstack([rows, none]), np.vstack([none, rows])
    return np.repeat(rows, len(rows), axis=0), np.tile(rows, (len(rows), 1))


@lru_cache
def changes(unit: PrivacyUnit, kinds: int) -> np.ndarray:
    """(k, kinds) every difference u - v of the counts of two neighbours, each once."""
    before, after = pairs(unit, kinds)
    return np.unique(after - before, axis=0)
