"""Lines of a table of counts in the orders in which a chart of one or two columns may show them.

A chart leaves out cells that the portal added and that perhaps hold nobody; of many values without an order it shows
those with most people, the largest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL

NOISY, MISSING = "noisy_count", (MISSING_LABEL, "")
# Values in a chart, and bars of all groups together, where the largest are shown.
MOST_VALUES, MOST_BARS = 25, 100
# Groups that are told apart.
MOST_SIDE_BY_SIDE = 7
# Lines of a table that is shown so.
_LONGEST = 2000


def line_orders(table: pd.DataFrame) -> Iterator[np.ndarray]:
    """Places of lines: for each series one, along either column, as declared and by size."""
    if NOISY not in table or len(table) > _LONGEST:
        return
    columns = _columns(table)
    if len(columns) not in (1, 2):
        return
    noisy = np.round(pd.to_numeric(table[NOISY], errors="coerce").to_numpy(float))
    for shown in product(*(_without_own(table[name], codes) for name, codes in columns.items())):
        lines = np.flatnonzero(np.logical_and.reduce(shown))
        for along, groups in _pairs(list(columns.values())):
            yield from _series(lines, along, groups, noisy)


def cell_orders(table: pd.DataFrame) -> Iterator[np.ndarray]:
    """Places of the lines of a map: all, and those without cells that the portal added."""
    if NOISY in table and len(columns := _columns(table)) == 2 and len(table) <= _LONGEST:
        for shown in product(*(_without_own(table[name], codes) for name, codes in columns.items())):
            yield np.flatnonzero(np.logical_and.reduce(shown))


def largest_places(totals: np.ndarray, groups: int = 1) -> np.ndarray:
    """The places of the values that are shown, the largest first. groups: bars of each."""
    return np.argsort(-totals, kind="stable")[: most_shown(groups)]


def most_shown(groups: int) -> int:
    """How many values are shown, at most. groups: bars of each."""
    return min(MOST_VALUES, max(1, MOST_BARS // max(1, groups)))


def _columns(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Those that name cells, with the place of each line's value; a code beside its word is the same column."""
    names = list(table.columns)[: list(table.columns).index(NOISY)]
    columns: dict[str, np.ndarray] = {}
    for name in names:
        codes = pd.factorize(table[name])[0]
        if not any(np.array_equal(codes, known) for known in columns.values()):
            columns[name] = codes
    return columns


def _without_own(labels: pd.Series, codes: np.ndarray) -> list[np.ndarray]:
    """Which lines are shown: all, or those without one of the portal's own cells, or without both.

    What is missing is an empty field; beside a column of labels it is called so there.
    """
    texts = labels.to_numpy()
    own = [texts != label for label in (OTHER_LABEL, *MISSING) if (texts == label).any()]
    every = np.ones(len(codes), bool)
    return [every, *own, *([np.logical_and.reduce(own)] if len(own) > 1 else [])]


def _pairs(columns: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Which column runs along a chart, and which one makes its groups; one group of one column."""
    if len(columns) == 1:
        return [(columns[0], np.zeros(len(columns[0]), int))]
    return [(columns[0], columns[1]), (columns[1], columns[0])]


def _series(
    lines: np.ndarray, along: np.ndarray, groups: np.ndarray, noisy: np.ndarray
) -> Iterator[np.ndarray]:
    values, places = np.unique(along[lines], return_inverse=True)
    totals = np.bincount(places, weights=noisy[lines], minlength=len(values))
    named = np.unique(groups[lines])
    for order in (np.arange(len(values)), largest_places(totals, len(named))):
        for group in named:
            own = lines[groups[lines] == group]
            line_of = dict(zip(along[own].tolist(), own.tolist(), strict=True))
            if len(line_of) == len(values):
                yield np.array([line_of[value] for value in values[order].tolist()])
