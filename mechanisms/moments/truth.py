"""What exact sums say without noise: for comparisons with the truth, which are the curator's alone."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.moments.estimates import Sums
from mechanisms.moments.plan import ColumnPlan


def true_statistics(planned: ColumnPlan, degree: int, sums: Integers) -> dict[str, Floats]:
    """Number, total (not of dates), mean and deviation of each group, (groups,) each; NaN of a group of nobody."""
    own, exact = Sums(planned, degree), sums.astype(np.float64)
    lower, span = float(planned.column.lower), own.span
    number, first, second = (exact @ weights for weights in (own.number, own.first, own.second))
    people = np.where(number > 0, number, np.nan)
    truth = {"number": number, "mean": lower + span * first / people}
    if not planned.column.is_date:
        truth["total"] = lower * number + span * first
    if degree == 2:
        truth["deviation"] = span * np.sqrt(np.maximum(second / people - (first / people) ** 2, 0))
    return truth
