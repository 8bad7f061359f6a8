"""Intervals of linear functions of the noise, and of one over another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval


@dataclass(frozen=True)
class Moment:
    """A noisy number: its value, and its noise's variance and covariance with the number below it in a ratio."""

    value: Floats
    variance: Floats | float
    covariance: Floats | float


def linear(value: Floats, variance: Floats | float, reach: Floats | float) -> Interval:
    """value ± reach standard errors, broadcast together."""
    half = reach * np.sqrt(variance) + np.zeros_like(value)
    return Interval(value, value - half, value + half)


def ratio(above: Moment, below: Floats, below_variance: Floats | float, reach: Floats | float) -> Interval:
    """above over below, with each p for which above - p·below is no farther from 0 than its noise reaches.

    That is a quadratic inequality in p (Fieller 1954): the noise of above - p·below has the variance V_a - 2pC + p²V_b,
    and at the true p it reaches as stated, whatever p is. NaN where `below` may be 0: then nothing is told. All are
    broadcast together; where `reach` is NaN nothing is told, either.
    """
    square = below**2 - reach**2 * below_variance
    known = (square > 0) & (below > 0)
    safe = np.where(known, square, 1.0)
    half = above.value * below - reach**2 * above.covariance
    rest = above.value**2 - reach**2 * above.variance
    spread = np.sqrt(np.maximum(half**2 - safe * rest, 0))
    estimate = above.value / np.where(known, below, 1.0)
    parts = np.broadcast_arrays(estimate, (half - spread) / safe, (half + spread) / safe, known)
    return Interval(*(np.where(parts[3], part, np.nan) for part in parts[:3]))


def quotient(above: Floats, below: Floats, otherwise: float = np.nan) -> Floats:
    """A quotient, where what is below is above 0."""
    there = below > 0
    result: Floats = np.where(there, above / np.where(there, below, 1), otherwise)
    return result
