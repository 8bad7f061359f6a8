"""Counts of each column's groups, from all that was measured of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.microdata.margins import Margins, to_simplex
from mechanisms.microdata.plan import MeasuredTable
from mechanisms.microdata.tables import Grouping


def group_counts(grouping: Grouping, margins: Margins, tables: Sequence[MeasuredTable]) -> list[Floats]:
    """Of each column (groups,) counts >= 0 that sum to the number of rows.

    The mean of the column's own counts and the sums of its measured tables, each weighted by its precision.
    """
    return [_column(grouping, margins, tables, column) for column in range(len(grouping.sizes))]


def _column(grouping: Grouping, margins: Margins, tables: Sequence[MeasuredTable], column: int) -> Floats:
    merged = np.bincount(grouping.groups[column])
    precision = 1 / (merged * margins.variances[column])
    total = precision * grouping.vector(margins.counts[column], column)
    for table in tables:
        if column in table.pair:
            axis = 1 - table.pair.index(column)
            own = 1 / (table.values.shape[axis] * table.variance)
            total = total + own * table.values.sum(axis=axis)
            precision = precision + own
    return to_simplex(total / precision, margins.total)
