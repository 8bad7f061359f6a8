"""How groups differ, with 95 % intervals: of shares and means, and standardised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval, about
from mechanisms.moments.ratios import over
from mechanisms.summary.told import CategoryEstimates, NumberEstimates


@dataclass(frozen=True)
class Difference:
    """Between one group and another. Categories: (cells,) of shares each. Numbers: (1,) of the mean, in its unit.

    standardised: over the root of the mean of both groups' variances (Cohen's d; of shares p(1-p)). NaN where it is not
    determined.
    """

    plain: Interval
    standardised: Interval


def difference(column: CategoryEstimates | NumberEstimates, group: int, reference: int) -> Difference:
    """A row of the estimates less another: both are groups, not everybody, since those share people.

    Noise of two groups is independent. The interval's ends are d - √((a - l_a)² + (u_b - b)²) and its counterpart, from
    both groups' own intervals (Zou, Donner 2008): nearly exact, as tests simulate. Standardised means are rather wider.
    """
    if isinstance(column, CategoryEstimates):
        own, other = _row(column.shares, group), _row(column.shares, reference)

        def standardised(a: Floats, b: Floats) -> Floats:
            return over(a - b, np.sqrt((a * (1 - a) + b * (1 - b)) / 2))

        return Difference(_combined(own, other, np.subtract, 1), _combined(own, other, standardised))
    own, other = (_row(column.mean, place, alone=True) for place in (group, reference))
    plain = _combined(own, other, np.subtract)
    deviations = [_row(column.deviation, place, alone=True) for place in (group, reference)]
    return Difference(plain, _standardised(plain, *deviations))


def _row(interval: Interval, row: int, *, alone: bool = False) -> Interval:
    place = slice(row, row + 1) if alone else row
    return Interval(interval.estimate[place], interval.lower[place], interval.upper[place])


def _combined(
    own: Interval, other: Interval, of: Callable[[Floats, Floats], Floats], most: float = np.inf
) -> Interval:
    """Of a function that rises in the first and falls in the second: its ends are where both are off most likely.

    most: the largest size that is possible.
    """
    ends = []
    for a, b in ((own.lower, other.upper), (own.upper, other.lower)):
        first, second = a - own.estimate, b - other.estimate
        together = np.hypot(first, second)
        steps = (off * over(np.abs(off), together, 0) for off in (first, second))
        ends.append(of(*(part.estimate + step for part, step in zip((own, other), steps, strict=True))))
    middle = of(own.estimate, other.estimate)
    return about(middle, Interval(middle, *ends), -most, most)


def _standardised(plain: Interval, own: Interval, other: Interval) -> Interval:
    """The plain difference over the common deviation, both anywhere in their intervals; NaN where it may be 0."""
    middle, low, high = (
        np.hypot(a, b) / np.sqrt(2)
        for a, b in ((own.estimate, other.estimate), (own.lower, other.lower), (own.upper, other.upper))
    )
    low = np.where(low > 0, low, np.nan)
    lower = plain.lower / np.where(plain.lower < 0, low, high)
    upper = plain.upper / np.where(plain.upper > 0, low, high)
    known = ~np.isnan(low + lower + upper)
    parts = (over(plain.estimate, middle), lower, upper)
    return Interval(*(np.where(known, part, np.nan) for part in parts))
