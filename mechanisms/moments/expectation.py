"""How wide intervals will be, before anything is measured: from the plan and an expected number of people alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.moments.estimates import MEAN_LEVEL, Sums, deviation_of_values
from mechanisms.moments.mechanism import column_sums
from mechanisms.moments.plan import ColumnPlan, MomentsPlan


@dataclass(frozen=True)
class Expectation:
    """How far 95 % intervals will reach for one group of a size. number: in people; the others in the column's unit.

    They reach to the farther end, for values are rounded down to whole steps, and may be above them. number: exactly,
    whatever the group. total: at most; dates have none. mean: at most, wherever the mean is. deviation: where values
    are spread evenly over the bounds; most_deviation: where all are alike. The last three are None where the
    group is so small that nothing will be told.
    """

    number: float
    total: float | None
    mean: float | None
    deviation: float | None
    most_deviation: float | None


def expectation(plan: MomentsPlan, planned: ColumnPlan, people: float) -> Expectation:
    """For a group of so many people. A mean's noise reaches farthest where the mean is at a bound."""
    own = Sums.of(plan, planned)
    column, number = planned.column, own.half_width(own.number)
    weights = float(column.lower) * own.number + own.span * own.first
    total = None if column.is_date else own.half_width(weights) + people * column.floor_error
    if people <= number:
        return Expectation(number, total, None, None, None)
    mean = float(column.range) * mean_share(plan, planned, people)
    deviations = _deviations(plan, planned, people) if plan.degree == 2 else (None, None)
    return Expectation(number, total, mean, *deviations)


def mean_share(plan: MomentsPlan, planned: ColumnPlan, people: float) -> float:
    """How far the interval of a mean reaches as a share of the range, at most, for a group of so many people."""
    own, column = Sums.of(plan, planned), planned.column
    noise = max(own.half_width(own.first), own.half_width(own.first - own.number)) / people
    return min((own.span * noise + column.floor_error) / float(column.range), 1.0)


def _deviations(plan: MomentsPlan, planned: ColumnPlan, people: float) -> tuple[float, float]:
    """How far the intervals would reach if there were no noise in the sums.

    Of values spread evenly over the whole steps 0..W the mean is W/2 and the mean square next to W²/3; then all are at
    the lower bound.
    """
    own, steps, rows = Sums.of(plan, planned), planned.column.steps, math.ceil(people)
    powers = [[rows, rows * steps // 2, rows * steps**2 // 3, 0, 0, 0], [rows, 0, 0, 0, rows, 0]]
    sums = column_sums(planned, plan.degree, np.array(powers, dtype=object)).astype(np.float64)
    mean, variances = own.ratio(sums, own.first, own.number, MEAN_LEVEL), np.array([1 / 12, 0.0])
    deviations = deviation_of_values(own, sums, mean, variances)
    even, alike = np.fmax(
        deviations.upper - deviations.estimate, deviations.estimate - deviations.lower
    ).tolist()
    return even, max(even, alike)
