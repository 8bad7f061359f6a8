"""How far bins alone can move a mean, whatever the noise."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Date, Integer, Real
from mechanisms.synthesis.density import cell_line


def widths(attribute: Integer | Real | Date) -> Floats:
    """(attribute.regular_size,) largest minus smallest value of each cell, in units of the column; of dates in days."""
    reach = 0 if isinstance(attribute, Real) else 1
    differences = np.diff(cell_line(attribute)).astype(float) - reach
    if isinstance(attribute, Real):
        differences[list(attribute.single_cells)] = 0.0
    return differences


def most_mean_error(attribute: Integer | Real | Date, counts: Integers | None = None) -> float:
    """The most by which the mean of values made from the true cells can differ from the true mean.

    Each value lies in the cell of the value that it stands for, so it is off by the cell's width at most, and a mean
    by the mean width. counts: (attribute.regular_size,) people in each cell; None: nothing is known of them, so all
    may be in the widest cell. Values outside the bounds, which count at the nearest one, come on top.
    """
    if counts is None and isinstance(attribute, Real) and attribute.is_even:
        return (attribute.upper - attribute.lower) / attribute.bins
    each = widths(attribute)
    if counts is None:
        return float(each.max())
    people = counts.sum()
    return float(counts @ each / people) if people else 0.0
