"""How strongly two columns of categories go together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.tables import Pair


def cramers_v(table: Integers) -> float:
    """Of (c, e) counts: Cramér's V from 0 to 1 with Bergsma's (2013) correction, so that independence gives about 0.

    Without it fine tables of few rows look dependent. Rows and columns of the table without anybody do not count; NaN
    where fewer than two of either are left.
    """
    filled = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    rows = filled.sum()
    if min(filled.shape) < 2:
        return float("nan")
    expected = np.outer(filled.sum(axis=1), filled.sum(axis=0)) / rows
    squared = float(((filled - expected) ** 2 / expected).sum() / rows)
    degrees = [size - 1 for size in filled.shape]
    excess = max(0.0, squared - degrees[0] * degrees[1] / (rows - 1))
    most = min(degree - degree**2 / (rows - 1) for degree in degrees)
    return float(min(1.0, np.sqrt(excess / most))) if most > 0 else float("nan")


def associations(tables: Mapping[Pair, Integers], columns: int) -> Floats:
    """(columns, columns) values of V, 1 on the diagonal. tables: counts of every pair a < b."""
    matrix = np.eye(columns)
    for (a, b), table in tables.items():
        matrix[a, b] = matrix[b, a] = cramers_v(table)
    return matrix
