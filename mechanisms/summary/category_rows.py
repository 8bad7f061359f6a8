"""What is told of a column of categories."""

from __future__ import annotations

import numpy as np

from mechanisms.moments.estimates import about, within
from mechanisms.moments.ratios import Moment, linear, over, ratio
from mechanisms.summary.rows import RowEstimates
from mechanisms.summary.told import CategoryEstimates


def category_rows(rows: RowEstimates, name: str) -> CategoryEstimates:
    """Counts and shares of each value."""
    raw, counts = rows.with_all(rows.fused.cells[name]), rows.with_all(rows.possible_cells(name))
    variance = rows.times[:, None] * rows.model.variances(name)
    below = rows.number_variance[:, None]
    part = Moment(raw, variance, below * rows.model.cells[name].gain)
    shares = ratio(part, rows.number[:, None], below, rows.reach)
    return CategoryEstimates(
        about(counts, within(linear(raw, variance, rows.reach), 0, np.inf), 0),
        about(over(counts, rows.possible_number[:, None]), within(shares, 0, 1), 0, 1),
    )
