"""How groups differ, with 95 % intervals: of shares and means, and standardised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval, cut_to, with_estimate
from mechanisms.moments.ratios import quotient
from mechanisms.summary.column_estimates import CategoryEstimates, NumberEstimates

# In which two shares may be off together.
DIRECTIONS = 17
# Two independent errors, each over its reach at 95 %, are together within this with 95 %: 1.249 of Gaussian noise, and
# 1.298 of Laplace noise, of which sums reach less far.
TOGETHER = 1.3


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
    both groups' own intervals (Zou, Donner 2008): nearly exact, as tests simulate. Estimates and intervals are those
    that were measured, before they were moved to where they are possible. Standardised, the interval goes from the
    least to the largest of all pairs of shares that together are no farther off than 95 % of noise; of means it is
    wider.
    """
    if isinstance(column, CategoryEstimates):
        own, other = (_row(column.measured_shares, place) for place in (group, reference))
        a, b = (column.shares.estimate[place] for place in (group, reference))
        return Difference(
            _difference(a - b, own, other, 1), with_estimate(_over_spread(a, b), _farthest(own, other))
        )
    own, other = (_row(column.measured_mean, place, alone=True) for place in (group, reference))
    a, b = (column.mean.estimate[place : place + 1] for place in (group, reference))
    plain = _difference(a - b, own, other)
    deviations = (_row(column.deviation, place, alone=True) for place in (group, reference))
    return Difference(plain, _standardised(plain, *deviations))


def _row(interval: Interval, row: int, *, alone: bool = False) -> Interval:
    place = slice(row, row + 1) if alone else row
    return Interval(interval.estimate[place], interval.lower[place], interval.upper[place])


def _difference(estimate: Floats, own: Interval, other: Interval, most: float = np.inf) -> Interval:
    """estimate: the estimate that is told. most: the largest size that is possible."""
    middle = own.estimate - other.estimate
    low = middle - np.hypot(own.estimate - own.lower, other.upper - other.estimate)
    high = middle + np.hypot(own.upper - own.estimate, other.estimate - other.lower)
    return with_estimate(estimate, cut_to(Interval(middle, low, high), -most, most), -most, most)


def _over_spread(a: Floats, b: Floats) -> Floats:
    """The difference of shares over the root of the mean of both variances; without limit where both are 0."""
    nothing = np.where(a == b, np.nan, np.copysign(np.inf, a - b))
    spread = np.sqrt(np.maximum(a * (1 - a) + b * (1 - b), 0) / 2)
    return np.where(spread > 0, quotient(a - b, spread), nothing)


def _farthest(own: Interval, other: Interval) -> Interval:
    """The least and the largest standardised difference of shares within 0..1 that are `TOGETHER` off, either way."""
    ends = []
    for a, b, of in ((own.lower, other.upper, np.fmin), (own.upper, other.lower, np.fmax)):
        angle = np.linspace(0, np.pi / 2, DIRECTIONS)[:, None]
        first = np.clip(own.estimate + TOGETHER * np.cos(angle) * (a - own.estimate), 0, 1)
        second = np.clip(other.estimate + TOGETHER * np.sin(angle) * (b - other.estimate), 0, 1)
        ends.append(of.reduce(_over_spread(first, second)))
    known = np.isfinite(ends[0]) & np.isfinite(ends[1])
    return Interval(np.zeros_like(ends[0]), *(np.where(known, end, np.nan) for end in ends))


def _standardised(plain: Interval, own: Interval, other: Interval) -> Interval:
    """The plain difference over the common deviation, both anywhere in their intervals.

    NaN where the variance is not above twice its reach: where all values are nearly alike noise alone lifts the lower
    end of its interval above 0 in 2.5 of 100, and what is told then would be told wrongly.
    """
    middle, low, high = (
        np.hypot(a, b) / np.sqrt(2)
        for a, b in ((own.estimate, other.estimate), (own.lower, other.lower), (own.upper, other.upper))
    )
    low = np.where(2 * low**2 > middle**2, low, np.nan)
    lower = plain.lower / np.where(plain.lower < 0, low, high)
    upper = plain.upper / np.where(plain.upper > 0, low, high)
    known = ~np.isnan(low + lower + upper)
    parts = (quotient(plain.estimate, middle), lower, upper)
    return Interval(*(np.where(known, part, np.nan) for part in parts))
