"""Mean, deviation and quantiles of one column made into those of one distribution.

Let q_1 … q_5 be its `QUANTILES`, and L and U its bounds. Then a twentieth of the values lies from L to q_1, a fifth
from q_1 to q_2, and so on: part i, a share w_i, lies from a_i to b_i, both rising. Whatever the distribution is,
Σ w_i a_i <= m <= Σ w_i b_i for its mean m. Of values with that mean the deviation is least where each is as near to one
number t as its part allows, clip(t, a_i, b_i), with t so that the mean is m; both are reached (Lagrange). For given
means μ_i of the parts it is largest where each part lies at its two ends alone, and Σ w_i x² is then
Σ w_i ((a_i + b_i) μ_i - a_i b_i), which is largest where the mean is made of the last parts as far as they go. So
these bounds are tight: numbers between them are those of some distribution. That |m - q_3| is at most the deviation,
and the deviation at most half the range, follows.
"""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Flags, Floats
from mechanisms.summary.told import QUANTILES

SHARES = np.diff((0, *QUANTILES, 1))
# Bisections of how far quantiles move, which they may do by 1/4,096 of their way too far.
_HALVINGS = 12
# Of the range, which sums of floats may miss.
_NEARLY = 1e-9

Ends = tuple[Floats, Floats]
Bounds = tuple[float, float]


def agreed(
    quantiles: Floats, cells: Ends, bounds: Bounds, mean: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """Quantiles and deviations that a distribution with such means has.

    quantiles: (rows, 5), drawn inside cells: of each the ends, (rows, 5). Where in its cell a quantile lies is not
    known, but the mean and the deviation are: so a quantile moves within its cell, no farther than they ask for, and a
    deviation only where nothing in the cells has it, as in groups of next to nobody. mean, deviation: (rows,). bounds:
    L and U, scalars. NaN stays.
    """
    low, high = parts(*cells, bounds)
    mean = np.clip(mean, low @ SHARES, high @ SHARES)
    nearest, least = least_deviation(low, high, mean)
    deviation = np.maximum(deviation, least)
    nearest = np.clip(nearest[:, None], *cells)
    allowed = _allows(quantiles, bounds, mean, deviation)
    start, stop = np.zeros(len(mean)), np.where(allowed | np.isnan(mean), 0.0, 1.0)
    for _ in range(_HALVINGS if stop.any() else 0):
        middle = (start + stop) / 2
        fits = _allows(_between(quantiles, nearest, middle), bounds, mean, deviation)
        start, stop = np.where(fits, start, middle), np.where(fits, middle, stop)
    moved = _between(quantiles, nearest, stop)
    return moved, np.minimum(deviation, most_deviation(*parts(moved, moved, bounds), mean))


def parts(lower: Floats, upper: Floats, bounds: Bounds) -> Ends:
    """a and b, (rows, 6), where each quantile lies between ends, (rows, 5)."""
    first, last = (np.full((len(lower), 1), bound) for bound in bounds)
    return np.hstack([first, lower]), np.hstack([upper, last])


def least_deviation(low: Floats, high: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """t and the least deviation, (rows,) each. low, high: a and b. mean: (rows,), which they allow.

    Between two ends of parts the mean of clip(t, a, b) rises on a straight line.
    """
    ends = np.sort(np.hstack([low, high]), axis=1)
    means = np.clip(ends[:, :, None], low[:, None], high[:, None]) @ SHARES
    rows = np.arange(len(mean))
    before = np.clip((means <= mean[:, None]).sum(axis=1) - 1, 0, ends.shape[1] - 2)
    left, right = means[rows, before], means[rows, before + 1]
    inside = np.clip((mean - left) / np.maximum(right - left, 1e-300), 0, 1)
    t = ends[rows, before] + inside * (ends[rows, before + 1] - ends[rows, before])
    values = np.clip(t[:, None], low, high)
    return t, np.sqrt((values - mean[:, None]) ** 2 @ SHARES)


def most_deviation(low: Floats, high: Floats, mean: Floats) -> Floats:
    """(rows,) the largest deviation; arguments as of `least_deviation`."""
    room = SHARES * (high - low)
    later = np.cumsum(room[:, ::-1], axis=1)[:, ::-1] - room
    filled = np.clip((mean - low @ SHARES)[:, None] - later, 0, room)
    squares = ((low + high) * filled + SHARES * low**2).sum(axis=1)
    most: Floats = np.sqrt(np.maximum(squares - mean**2, 0))
    return most


def _between(quantiles: Floats, nearest: Floats, part: Floats) -> Floats:
    moved: Floats = quantiles + part[:, None] * (nearest - quantiles)
    return moved


def _allows(quantiles: Floats, bounds: Bounds, mean: Floats, deviation: Floats) -> Flags:
    low, high = parts(quantiles, quantiles, bounds)
    slack = _NEARLY * (bounds[1] - bounds[0])
    has_mean = (low @ SHARES <= mean + slack) & (mean <= high @ SHARES + slack)
    flags: Flags = has_mean & (least_deviation(low, high, mean)[1] <= deviation + slack)
    return flags
