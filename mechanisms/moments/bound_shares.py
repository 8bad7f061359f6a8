"""Shares of values at both bounds that a mean and a deviation allow.

With W whole steps let d = 1/W. As shares of the range values are 0 (a share a of them), 1 (a share b), or from d to
1 - d (the rest, c = 1 - a - b), t is their mean and s² their variance, or unknown. The rest has the sum t - b and the
sum of squares s² + t² - b, so

- d c <= t - b <= (1 - d) c;
- (t - b)² <= (s² + t² - b) c (Jensen);
- (1 - d) d c <= t(1 - t) - s², since (x - d)(1 - d - x) >= 0 for the rest and x(1 - x) is 0 at the bounds.

The first and the last are linear in a and b, and (t - b)²/c is convex: so these shares are a convex set, and from any
point in it to one outside there is a last one that belongs to it. It has a point with as large a rest as the last
condition and a, b >= 0 allow, whose mean is t, or the nearest in d … 1 - d. Where no whole steps have such a mean and
deviation, as a mean of next to nobody below the first step, that point is the nearest.
"""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Flags, Floats

# Bisections of how far shares move, which they may do by 1/2²⁰ of their way too far.
_HALVINGS = 20
_SLACK = 1e-9

Shares = tuple[Floats, Floats]


def agreed_shares(measured: Shares, steps: int, mean: Floats, variance: Floats | None) -> Shares:
    """a and b near the measured ones, (groups,) each; moved only where mean and deviation do not allow these.

    steps: W. mean: t, (groups,), in 0..1. variance: s², in squares of the range; None where it was not measured.
    """
    if steps == 1:
        return 1 - mean, mean
    own = np.clip(measured[0], 0, 1 - mean), np.clip(measured[1], 0, mean)
    inside = _with_most_rest(steps, mean, variance)
    start, stop = np.zeros(len(mean)), np.where(_allow(own, steps, mean, variance), 0.0, 1.0)
    for _ in range(_HALVINGS if stop.any() else 0):
        middle = (start + stop) / 2
        fits = _allow(_shares_between(own, inside, middle), steps, mean, variance)
        start, stop = np.where(fits, start, middle), np.where(fits, middle, stop)
    return _shares_between(own, inside, stop)


def _with_most_rest(steps: int, mean: Floats, variance: Floats | None) -> Shares:
    d = 1 / steps
    middle = np.clip(mean, d, 1 - d)
    rest = np.minimum(mean / middle, (1 - mean) / (1 - middle))
    if variance is not None:
        rest = np.minimum(rest, np.maximum(mean * (1 - mean) - variance, 0) / (d * (1 - d)))
    return (1 - mean) - rest * (1 - middle), mean - rest * middle


def _allow(shares: Shares, steps: int, mean: Floats, variance: Floats | None) -> Flags:
    low, high = shares
    d, rest, first = 1 / steps, 1 - low - high, mean - high
    fits: Flags = (d * rest <= first + _SLACK) & (first <= (1 - d) * rest + _SLACK)
    if variance is not None:
        least = np.where(rest > _SLACK, first**2 / np.maximum(rest, _SLACK), 0)
        fits &= least <= variance + mean**2 - high + _SLACK
        fits &= d * (1 - d) * rest <= mean * (1 - mean) - variance + _SLACK
    return fits


def _shares_between(own: Shares, inside: Shares, part: Floats) -> Shares:
    low, high = (a + part * (b - a) for a, b in zip(own, inside, strict=True))
    return low, high
