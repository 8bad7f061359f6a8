"""What is estimated from measured Bernstein sums: numbers, totals, means, deviations, shares, with intervals."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.moments.plan import ColumnPlan
from mechanisms.noise import DiscreteLaplace, NoiseLaw
from mechanisms.noise.repeatable import repeatable
from mechanisms.noise.weighted_sum import weighted_half_width

# Ratios at which the reach of the noise is worked out; between them it is at most as far as on a straight line.
KNOTS = 51
# Draws of noise by which the interval of a deviation is found, and the share of them that it holds.
DRAWS, HELD = 4_000, 0.955
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Interval:
    """Estimates with the ends of their 95 % intervals, (groups,) each; NaN where a group is too small to tell."""

    estimate: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class ColumnEstimates:
    """Of one column, for each group; number and missing in rows, the others in the column's unit, shares of `number`.

    deviation: None where only the first moment was measured.
    """

    number: Interval
    total: Interval
    mean: Interval
    deviation: Interval | None
    missing: Interval
    at_lower: Interval
    at_upper: Interval


class Sums:
    """Sums of one column and the linear functions of them. times: of how many groups each sum is."""

    def __init__(self, planned: ColumnPlan, degree: int, times: int = 1) -> None:
        self.planned, self.degree, self.times = planned, degree, times
        places = np.eye(degree + 4)
        bernstein = places[: degree + 1] / planned.unit
        self.number = bernstein.sum(axis=0)
        # Σ v/W, of which each sum k has k/d.
        self.first = np.arange(degree + 1) / degree @ bernstein
        self.second = bernstein[-1]
        self.missing = places[degree + 1] / planned.unit
        self.at_lower, self.at_upper = places[degree + 2 :] / planned.at_bound

    def half_width(self, weights: Floats) -> float:
        return weighted_half_width(self.planned.noise, tuple(weights.tolist()), self.times)

    def linear(self, sums: Floats, weights: Floats) -> Interval:
        """Σ w_i s_i, with an interval that is exact: it depends on the noise alone."""
        estimate, half = sums @ weights, self.half_width(weights)
        return Interval(estimate, estimate - half, estimate + half)

    def ratio(self, sums: Floats, above: Floats, below: Floats) -> Interval:
        """One linear function over another, which lies between 0 and 1.

        The interval holds each p for which above - p·below is no farther from 0 than its noise, whose law is known
        exactly, reaches with 95 % (Fieller's argument). Where `below` may be 0 every p may be the true one, and nothing
        is told. Else the reach changes by less than `below` between two p, so both ends are single points.
        """
        top, bottom = sums @ above, sums @ below
        knots = np.linspace(0, 1, KNOTS)
        reach = np.array([self.half_width(above - p * below) for p in knots])
        known = bottom > self.half_width(below)
        safe = np.where(known, bottom, 1.0)
        ends = [_root(top, safe, knots, side * reach) for side in (-1, 1)]
        parts = (np.clip(top / safe, 0, 1), *ends)
        return Interval(*(np.where(known, part, np.nan) for part in parts))


def _root(top: Floats, bottom: Floats, knots: Floats, shift: Floats) -> Floats:
    """The p in 0..1 where top - p·bottom + shift(p) = 0, falling in p; shift is straight between knots."""
    values = top[:, None] - bottom[:, None] * knots + shift
    after = np.clip((values > 0).sum(axis=1), 1, len(knots) - 1)
    rows = np.arange(len(top))
    left, right = values[rows, after - 1], values[rows, after]
    inside: Floats = np.clip(left / np.maximum(left - right, 1e-300), 0, 1)
    root: Floats = knots[after - 1] + inside * (knots[1] - knots[0])
    return root


def estimates(planned: ColumnPlan, degree: int, measured: Integers, times: int = 1) -> ColumnEstimates:
    """Everything that is told of a column. measured: (groups, degree + 4), each of `times` groups added up."""
    column, sums, own = planned.column, measured.astype(np.float64), Sums(planned, degree, times)
    lower, span = float(column.lower), float(column.top - column.lower)
    mean = own.ratio(sums, own.first, own.number)
    return ColumnEstimates(
        number=own.linear(sums, own.number),
        total=own.linear(sums, lower * own.number + span * own.first),
        mean=_scaled(mean, lower, span),
        deviation=_scaled(_deviation(own, sums), 0.0, span) if degree == 2 else None,
        missing=own.linear(sums, own.missing),
        at_lower=own.ratio(sums, own.at_lower, own.number),
        at_upper=own.ratio(sums, own.at_upper, own.number),
    )


def _scaled(interval: Interval, origin: float, span: float) -> Interval:
    return Interval(*(origin + span * x for x in (interval.estimate, interval.lower, interval.upper)))


def _deviation(own: Sums, sums: Floats) -> Interval:
    """The standard deviation as a share of the range, with an interval by simulation from the measurement.

    What the sums may have been is drawn: the measured ones less noise of their law.
    """
    places = slice(0, own.degree + 1)
    weights = np.stack([own.number, own.first, own.second])[:, places]
    drawn = _drawn(own.planned.noise, own.degree + 1, own.times) @ weights.T
    observed = sums[:, places] @ weights.T
    known = observed[:, 0] > own.half_width(own.number)
    ends = np.full((2, len(sums)), np.nan)
    tails = [100 * (1 - HELD) / 2, 100 * (1 + HELD) / 2]
    for start in range(0, len(sums), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        possible = _spread(observed[some, None, :] - drawn[None])
        ends[:, some] = np.percentile(possible, tails, axis=1)
    parts = (_spread(observed), *ends)
    return Interval(*(np.where(known, part, np.nan) for part in parts))


def _spread(moments: Floats) -> Floats:
    """sqrt(Σ v²/n - (Σ v/n)²) of (..., 3) numbers n, Σv, Σv², at least 0 and at most 1/2."""
    number = np.maximum(moments[..., 0], 1e-9)
    mean, square = moments[..., 1] / number, moments[..., 2] / number
    spread: Floats = np.sqrt(np.clip(square - mean**2, 0, 0.25))
    return spread


@lru_cache(maxsize=8)
def _drawn(law: NoiseLaw, sums: int, times: int) -> Floats:
    """(draws, sums) continuous noise as wide as the law; the same each time."""
    generator = repeatable(hashlib.sha256(f"{law} {sums} {times}".encode()).digest())
    if not isinstance(law, DiscreteLaplace):
        gaussian: Floats = generator.normal(0, law.standard_error * times**0.5, (DRAWS, sums))
        return gaussian
    # A Laplace noise is the difference of two exponential ones, and sums of those are gamma noises.
    first, second = generator.gamma(times, float(law.scale), (2, DRAWS, sums))
    laplace: Floats = first - second
    return laplace
