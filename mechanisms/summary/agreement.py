"""Mean, deviation and quantiles of one column made into those of one distribution.

Let q_1 … q_5 be its `QUANTILES`, and L and U its bounds. Then a twentieth of the values lies from L to q_1, a fifth
from q_1 to q_2, and so on: the parts of `moments/spread_bounds.py`, which has the bounds of mean and deviation with
their proof. That |m - q_3| is at most the deviation, and the deviation at most half the range, follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mechanisms.arrays import Flags, Floats
from mechanisms.moments.spread_bounds import least_deviation, most_deviation
from mechanisms.summary.column_estimates import QUANTILES

SHARES = np.diff((0, *QUANTILES, 1))
# Bisections of how far quantiles move, which they may do by 1/4,096 of their way too far.
_HALVINGS = 12
# Of the range, which sums of floats may miss.
_NEARLY = 1e-9

FloatPair = tuple[Floats, Floats]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Values:
    """Which values a column has. bounds: L and U. are_integers: whether they are whole numbers, or days."""

    bounds: Bounds
    are_integers: bool


def agreed(
    quantiles: Floats, cells: FloatPair, values: Values, mean: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """Quantiles and deviations that a distribution with such means has.

    quantiles: (rows, 5), drawn inside cells: of each the ends, (rows, 5). Where in its cell a quantile lies is not
    known, but the mean and the deviation are: so a quantile moves within its cell, no farther than they ask for, and a
    deviation only where nothing in the cells has it, as in groups of next to nobody. mean, deviation: (rows,). NaN
    stays.
    """
    bounds = values.bounds
    low, high = parts(*cells, bounds)
    mean = np.clip(mean, low @ SHARES, high @ SHARES)
    nearest, least = least_deviation(low, high, SHARES, mean)
    deviation = np.maximum(deviation, least)
    nearest = np.clip(nearest[:, None], *cells)
    has_room, allows = (
        partial(f, bounds=bounds, mean=mean, deviation=deviation) for f in (_has_room, _allows)
    )
    # Towards the ends of cells on the mean's side, which leaves values their spread; then together, where that is too
    # much of it.
    moved = _least_move(quantiles, _sides(quantiles, cells, bounds, mean), has_room)
    moved = np.clip(_least_move(moved, nearest, allows), *cells)
    if values.are_integers:
        moved = _integer_quantiles(moved, bounds, mean)
        deviation = np.maximum(deviation, least_deviation(*parts(moved, moved, bounds), SHARES, mean)[1])
    return moved, np.minimum(deviation, most_deviation(*parts(moved, moved, bounds), SHARES, mean))


def parts(lower: Floats, upper: Floats, bounds: Bounds) -> FloatPair:
    """a and b, (rows, 6), where each quantile lies between ends, (rows, 5)."""
    first, last = (np.full((len(lower), 1), bound) for bound in bounds)
    return np.hstack([first, lower]), np.hstack([upper, last])


def _integer_quantiles(quantiles: Floats, bounds: Bounds, mean: Floats) -> Floats:
    """The nearest whole numbers that allow the mean, of quantiles that do; their cells begin and end at whole ones.

    Rounded down, the least mean that quantiles allow falls; rounded up, the largest one rises. These are a twentieth of
    the range apart at least, and rounding moves either by less than 1; in a short range cells are single values.
    """
    nearest = np.rint(quantiles)
    low, high = parts(nearest, nearest, bounds)
    slack = _slack(bounds)
    too_high, too_low = low @ SHARES > mean + slack, high @ SHARES < mean - slack
    down = np.where(too_high[:, None], np.floor(quantiles + slack), nearest)
    integers: Floats = np.where(too_low[:, None], np.ceil(quantiles - slack), down)
    return integers


def _least_move(quantiles: Floats, goals: Floats, fits: Callable[[Floats], Flags]) -> Floats:
    """Quantiles moved towards goals, no farther than it takes to fit."""
    there = fits(quantiles) | np.isnan(quantiles[:, 0])
    start, stop = np.zeros(len(quantiles)), np.where(there, 0.0, 1.0)
    for _ in range(_HALVINGS if stop.any() else 0):
        middle = (start + stop) / 2
        fitting = fits(_moved_quantiles(quantiles, goals, middle))
        start, stop = np.where(fitting, start, middle), np.where(fitting, middle, stop)
    return _moved_quantiles(quantiles, goals, stop)


def _sides(quantiles: Floats, cells: FloatPair, bounds: Bounds, mean: Floats) -> Floats:
    """(rows, 5) the lower ends of cells where the mean is near the least that quantiles allow, else upper ones."""
    low, high = parts(quantiles, quantiles, bounds)
    is_low = 2 * mean < (low + high) @ SHARES
    return np.where(is_low[:, None], *cells)


def _has_room(quantiles: Floats, bounds: Bounds, mean: Floats, deviation: Floats) -> Flags:
    """Whether values with such quantiles can have the mean, and be as far apart as that."""
    low, high = parts(quantiles, quantiles, bounds)
    slack, most = _slack(bounds), most_deviation(low, high, SHARES, mean)
    flags: Flags = _have_mean(low, high, mean, slack) & (most >= deviation - slack)
    return flags


def _slack(bounds: Bounds) -> float:
    return _NEARLY * (bounds[1] - bounds[0])


def _have_mean(low: Floats, high: Floats, mean: Floats, slack: float) -> Flags:
    """Whether values in parts between these ends can have the mean."""
    flags: Flags = (low @ SHARES <= mean + slack) & (mean <= high @ SHARES + slack)
    return flags


def _moved_quantiles(quantiles: Floats, nearest: Floats, part: Floats) -> Floats:
    moved: Floats = np.maximum.accumulate(quantiles + part[:, None] * (nearest - quantiles), axis=1)
    return moved


def _allows(quantiles: Floats, bounds: Bounds, mean: Floats, deviation: Floats) -> Flags:
    """Whether values with such quantiles can have the mean, and be as near to each other as that."""
    low, high = parts(quantiles, quantiles, bounds)
    slack, least = _slack(bounds), least_deviation(low, high, SHARES, mean)[1]
    flags: Flags = _have_mean(low, high, mean, slack) & (least <= deviation + slack)
    return flags
