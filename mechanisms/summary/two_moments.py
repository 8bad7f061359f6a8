"""Cells whose values can have a mean and a variance, from ones that could not.

Where in its cell a value lies is not known. Of values with a mean the variance is least where each lies as near to one
number t as its cell allows, and largest where all lie at ends of their cells (proof: `moments/spread_bounds.py`).
Let y be the means of the cells' values in the one of both that is nearer to the wanted variance, and q those of their
squares. Cells of least divergence whose values have the mean m and the squares s² + m², placed so, are those multiplied
by exp(θ₁y + θ₂q), where θ makes log Σ cells exp(θ₁y + θ₂q) - θ₁m - θ₂(s² + m²) least: a convex problem, for Newton's
method. Where no cells above 0 have both, as where two of them have one mean alone, cells stay, and the variance moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Flags, Floats

# Of the square of half the range, and of a mean in half ranges.
_NEARLY = 1e-9
_FLAT = 1e-12
_NEWTON, _HALVINGS, _BISECTIONS = 30, 6, 50
# Beyond this all that is left is in a cell or two.
_STEEPEST = 1e6


@dataclass(frozen=True)
class Placed:
    """Where the values of cells lie, (rows, cells) each: their mean and that of their squares in each cell."""

    mean: Floats
    square: Floats

    def variance(self, shares: Floats, mean: Floats) -> Floats:
        """(rows,) of all values."""
        variance: Floats = (shares * self.square).sum(axis=1) - mean**2
        return variance

    def chosen(self, rows: Flags) -> Placed:
        return Placed(self.mean[rows], self.square[rows])


def with_variance(
    cells: Floats, ends: tuple[Floats, Floats], mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Cells with the same sums that could have these means and variances, and variances that they have.

    cells: (rows, n) >= 0, whose values can have the means. ends: the least and the largest value of each, (n,) each,
    in half ranges. mean, variance: (rows,), likewise. A row of nobody stays.
    """
    people = cells.sum(axis=1)
    there = people > 0
    if not there.any():
        return cells, variance
    shares, m, target = cells[there] / people[there, None], mean[there], variance[there]
    near, far = _nearest(shares, ends, m), _farthest(shares, ends, m)
    too_wide = near.variance(shares, m) > target + _NEARLY
    too_narrow = far.variance(shares, m) < target - _NEARLY
    for wrong, placed in ((too_wide, near), (too_narrow, far)):
        if wrong.any():
            goals = np.stack([m[wrong], target[wrong] + m[wrong] ** 2], axis=1)
            shares[wrong] = _tilted(shares[wrong], placed.chosen(wrong), goals)
    least, most = (place(shares, ends, m).variance(shares, m) for place in (_nearest, _farthest))
    reported, agreed = cells.copy(), variance.copy()
    reported[there], agreed[there] = shares * people[there, None], np.clip(target, least, most)
    return reported, np.maximum(agreed, 0)


def _nearest(shares: Floats, ends: tuple[Floats, Floats], mean: Floats) -> Placed:
    """Of least variance: each value as near to one number as its cell allows."""
    low, high = np.full(len(mean), ends[0][0]), np.full(len(mean), ends[1][-1])
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        above = (shares * np.clip(middle[:, None], *ends)).sum(axis=1) > mean
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    values = np.clip(((low + high) / 2)[:, None], *ends)
    return Placed(values, values**2)


def _farthest(shares: Floats, ends: tuple[Floats, Floats], mean: Floats) -> Placed:
    """Of largest variance: each value at an end of its cell, the upper one of the last cells as the mean allows."""
    low, high = ends
    room = shares * (high - low)
    later = np.cumsum(room[:, ::-1], axis=1)[:, ::-1] - room
    filled = np.clip((mean - shares @ low)[:, None] - later, 0, room)
    values = low + np.where(shares > 0, filled / np.where(shares > 0, shares, 1), 0)
    return Placed(values, (low + high) * values - low * high)


def _tilted(shares: Floats, placed: Placed, goals: Floats) -> Floats:
    """(rows, n) those with the goals, means and squares, (rows, 2); as they were where none has both.

    What a search comes to that does not end depends on the last digits of floats, which processors have otherwise.
    """
    places, tilt = np.stack([placed.mean, placed.square], axis=2), np.zeros_like(goals)
    left = np.arange(len(goals))
    for _ in range(_NEWTON):
        moved, off = _stepped(shares[left], places[left], goals[left], tilt[left])
        going = (np.abs(off).max(axis=1) > _NEARLY) & (moved != tilt[left]).any(axis=1)
        tilt[left] = moved
        left = left[going]
        if not left.size:
            break
    tilted = _weighted(shares, places, tilt)
    off = _distance_to_goals(tilted, places, goals)
    has_both: Flags = np.abs(off).max(axis=1) <= _NEARLY
    return np.where(has_both[:, None], tilted, shares)


def _distance_to_goals(shares: Floats, places: Floats, goals: Floats) -> Floats:
    """(rows, 2) how far mean and squares are from the goals."""
    off: Floats = np.einsum("rc,rci->ri", shares, places) - goals
    return off


def _stepped(shares: Floats, places: Floats, goals: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """One step of Newton's method, by as much of it as makes each row's function less, and how far it was off."""
    weighted = _weighted(shares, places, tilt)
    off = _distance_to_goals(weighted, places, goals)
    centred = places - (off + goals)[:, None]
    curved = np.einsum("rci,rcj->rij", weighted[:, :, None] * centred, centred) + 1e-13 * np.eye(2)
    step = np.linalg.solve(curved, off[:, :, None])[:, :, 0]
    before, part = _value(shares, places, goals, tilt), np.ones(len(tilt))
    for _ in range(_HALVINGS):
        moved = np.clip(tilt - part[:, None] * step, -_STEEPEST, _STEEPEST)
        # Next to its least the function is flat to the last digits, which say nothing.
        worse = _value(shares, places, goals, moved) > before + _FLAT
        if not worse.any():
            return moved, off
        part = np.where(worse, part / 2, part)
    return np.where(worse[:, None], tilt, moved), off


def _exponents(places: Floats, tilt: Floats) -> Floats:
    exponents: Floats = np.einsum("rci,ri->rc", places, tilt)
    return exponents


def _value(shares: Floats, places: Floats, goals: Floats, tilt: Floats) -> Floats:
    exponents = _exponents(places, tilt)
    largest = exponents.max(axis=1)
    added = (shares * np.exp(exponents - largest[:, None])).sum(axis=1)
    value: Floats = np.log(np.maximum(added, 1e-300)) + largest - (tilt * goals).sum(axis=1)
    return value


def _weighted(shares: Floats, places: Floats, tilt: Floats) -> Floats:
    exponents = _exponents(places, tilt)
    weighted = shares * np.exp(exponents - exponents.max(axis=1, keepdims=True))
    added = weighted.sum(axis=1, keepdims=True)
    tilted: Floats = np.where(added > 0, weighted / np.where(added > 0, added, 1), shares)
    return tilted
