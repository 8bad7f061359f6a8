"""Tables that several fits agree on, moved to what was measured where noise does not explain the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.microdata.mixture import Target
from mechanisms.microdata.tables import Grouping, Pair

# Standard errors from which on a cell is moved further than its table is: of a hundred that are met, five are beyond.
BEYOND_NOISE = 2
RAKING_ROUNDS = 30
_TINY = 1e-12


def agreed(
    grouping: Grouping, fits: Sequence[Floats], targets: Mapping[Pair, Target], total: float
) -> Floats:
    """(S, S) shares of all pairs of groups: the mean of fits, (S, S) each, near to the targets, with its margins.

    Post-processing of what was measured. Fits from several starts differ by what the measurements leave open; their
    mean errs less than each of them.
    """
    tables: Floats = np.mean(fits, axis=0, dtype=np.float64)
    for (a, b), target in targets.items():
        own, other = grouping.place(a), grouping.place(b)
        moved = towards(tables[own, other] * total, target) / total
        if (a, b) in grouping.nobody:
            moved[grouping.nobody[a, b]] = 0
        tables[own, other] = moved
        tables[other, own] = moved.T
    return tables


def towards(expected: Floats, target: Target) -> Floats:
    """(g_a, g_b) >= 0 with the sums of the expected table, moved to a measured one as far as its noise lets tell.

    The share of the way is the one of least expected error, where the true table differs from the expected one by what
    the squared distance exceeds the noise by (James and Stein 1961, the positive part); of a cell that lies
    further off than noise brings it, the share of its own distance, if that is larger.
    """
    distance = target.table - expected
    beyond = max(0.0, float(np.square(distance).mean()) - target.variance)
    whole = beyond / (beyond + target.variance)
    far = BEYOND_NOISE**2 * target.variance / np.maximum(np.square(distance), _TINY)
    moved = np.maximum(expected + np.maximum(whole, 1 - np.minimum(1, far)) * distance, 0)
    return raked(moved + _TINY, expected.sum(axis=1), expected.sum(axis=0))


def raked(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The table scaled to the sums of rows and of columns in turn (iterative proportional fitting)."""
    for _ in range(RAKING_ROUNDS):
        table = table * (rows / np.maximum(table.sum(axis=1), _TINY))[:, None]
        table = table * (columns / np.maximum(table.sum(axis=0), _TINY))
    return table
