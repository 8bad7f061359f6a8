"""The nearest table that can be: no cell is negative, and rows and columns have given sums."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats

FITTING_ROUNDS = 30


def with_sums(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The nearest table t >= 0 with the given sums: t = max(0, y + u_i + v_j), u and v in turn, exact each time.

    table: (r, c); -inf where nobody is, which is 0 then. rows: (r,) >= 0. columns: (c,) >= 0 of the same sum.
    Nearest in squared distance. Scaling rows and columns in turn instead has to cut noise below 0 off first, which
    adds people to rare cells: rows of the tree of pairs err more by it at every ε.
    """
    u, v = np.zeros(rows.size), np.zeros(columns.size)
    for _ in range(FITTING_ROUNDS):
        u = _thresholds(table + v, rows)
        v = _thresholds((table + u[:, None]).T, columns)
    return np.maximum(0, table + u[:, None] + v)


def _thresholds(values: Floats, sums: Floats) -> Floats:
    """For each row the u with Σ max(0, value + u) = its sum; 0 where all values are -inf."""
    falling = -np.sort(-values, axis=1)
    surplus = (np.cumsum(falling, axis=1) - sums[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > surplus).sum(axis=1) - 1, 0)
    thresholds: Floats = -surplus[np.arange(sums.size), last]
    thresholds[~np.isfinite(thresholds)] = 0
    return thresholds
