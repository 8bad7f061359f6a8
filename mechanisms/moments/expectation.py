"""How wide intervals will be, before anything is measured: from the plan and an expected number of people alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.moments.estimates import Sums
from mechanisms.moments.plan import ColumnPlan, MomentsPlan


@dataclass(frozen=True)
class Expectation:
    """Half the 95 % intervals to expect for one group of a size. number: in people; the others in the column's unit.

    number, total: exactly, whatever the group; dates have no total. mean: at most, wherever the mean is; deviation:
    where values are spread evenly over the bounds. Both are None where the group is so small that nothing will be told.
    """

    number: float
    total: float | None
    mean: float | None
    deviation: float | None


def expectation(plan: MomentsPlan, planned: ColumnPlan, people: float) -> Expectation:
    """For a group of so many people. A mean's noise reaches farthest where the mean is at a bound."""
    own = Sums.of(plan, planned)
    number = own.half_width(own.number)
    weights = float(planned.column.lower) * own.number + own.span * own.first
    total = None if planned.column.is_date else own.half_width(weights)
    if people <= number:
        return Expectation(number, total, None, None)
    mean = own.span * mean_share(plan, planned, people)
    return Expectation(
        number, total, mean, own.span * _even_deviation(own) / people if plan.degree == 2 else None
    )


def mean_share(plan: MomentsPlan, planned: ColumnPlan, people: float) -> float:
    """Half the interval of a mean as a share of the range, at most, for a group of so many people."""
    own = Sums.of(plan, planned)
    return max(own.half_width(own.first), own.half_width(own.first - own.number)) / people


def _even_deviation(own: Sums) -> float:
    """The reach of the noise of a deviation times the people, to first order, of values spread evenly over 0..1.

    With s² = q - m², m = 1/2, q = 1/3 a change (n, a, b) of number, Σv and Σv² moves s by (b - q n - 2m(a - m n))/2s.
    """
    mean, square = 1 / 2, 1 / 3
    weights = own.second - square * own.number - 2 * mean * (own.first - mean * own.number)
    return own.half_width(np.asarray(weights / (2 * math.sqrt(square - mean**2))))
