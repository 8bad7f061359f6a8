"""Post-processing that makes noisy counts into those of a possible table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

from mechanisms.arrays import Flags, Integers, runs, runs_of
from mechanisms.noise import repeatable


def lattice_simplex(values: np.ndarray, total: int) -> Integers:
    """The nearest counts to `values` in L1 distance among non-negative integers that sum to `total`.

    values: (k,) real or integer, k >= 1, finite. total: >= 0.
    Returns (k,) int64. Among the nearest it is one of least L2 distance; equals are taken in a fixed order
    that depends on k alone. O(k log k).
    Raises ValueError if the shape, a non-finite value or the total does not fit.

    Start from c = ⌊max(y, 0)⌋. Lowering an entry costs 1 in L1; raising it costs 1 - 2φ once, φ the fraction
    of y, and 1 from then on. So the deficit goes first to the largest fractions, and whatever is left over,
    above or below, costs the same everywhere and is spread level by level, which is least in L2.
    """
    _check(values, total)
    if np.issubdtype(values.dtype, np.integer):
        return _of_integers(values, total)
    floor = np.floor(np.maximum(values, 0)).astype(np.int64)
    gap = total - int(floor.sum())
    if gap < 0:
        lowered: Integers = floor - _spread(values - floor, -gap, floor)
        return lowered
    raised = _raise_largest_fractions(values - floor, values > 0, gap)
    counts: Integers = floor + raised
    # What is left is raised at a cost of 1 each: no entry has a cap, and values below zero start far up.
    left = gap - int(raised.sum())
    return counts + _spread(counts - values, left, None) if left else counts


def _of_integers(values: np.ndarray, total: int) -> Integers:
    """The same of integers, run by run: max(y - t, 0) for a level t, and one more or less for some that are at it.

    Has no fractions, so all that is done is spreading. Beside the result it takes 5 bytes an entry.
    """
    level, rest = _level(values, total)
    moved = _first_at_least(values, level + (rest > 0), abs(rest))
    counts = np.empty(values.size, dtype=np.int64)
    for run, (y,) in zip(runs(values.size), runs_of(values), strict=True):
        np.maximum(y - level, 0, out=counts[run])
        counts[run] -= np.sign(rest) * moved[run]
    return counts


def _level(values: np.ndarray, total: int) -> tuple[int, int]:
    """The level t nearest to 0 at which max(y - t, 0) no longer moves past the total, and how much is then too much."""

    def above(level: int) -> int:
        return sum(int(np.maximum(y - level, 0).sum()) for (y,) in runs_of(values))

    surplus, largest = above(0) - total, max(int(y.max()) for (y,) in runs_of(values))
    if surplus >= 0:
        level = _highest(lambda t: above(t) >= total, 0, max(0, largest))
    else:
        level = -_highest(lambda depth: above(-depth) <= total, 0, max(0, -largest) - surplus)
    return level, above(level) - total


def _first_at_least(values: np.ndarray, least: int, number: int) -> Flags:
    """Marks `number` of the entries that are >= least, the first in the fixed order."""
    if number == 0:
        return np.zeros(values.size, dtype=np.bool_)
    order = fixed_order(values.size)

    def before(rank: int) -> int:
        return sum(int(((o < rank) & (y >= least)).sum()) for y, o in runs_of(values, order))

    rank = _highest(lambda r: before(r) <= number, 0, values.size)
    return np.concatenate([(o < rank) & (y >= least) for y, o in runs_of(values, order)])


def _check(values: np.ndarray, total: int) -> None:
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"values must have one axis and at least one entry, got shape {values.shape}")
    if not np.issubdtype(values.dtype, np.integer) and not np.isfinite(values).all():
        raise ValueError("values must be finite")
    if total < 0:
        raise ValueError(f"total must not be negative, got {total}")


def _raise_largest_fractions(fraction: np.ndarray, positive: np.ndarray, room: int) -> np.ndarray:
    """1 for the `room` largest positive fractions of positive values, 0 elsewhere."""
    raised = np.zeros(fraction.size, dtype=np.int64)
    candidates = np.flatnonzero(positive & (fraction > 0))
    raised[_least_candidates(candidates, -fraction, room)] = 1
    return raised


def _spread(start: np.ndarray, steps: int, cap: np.ndarray | None) -> np.ndarray:
    """Distribute `steps` unit steps so that Σ (start + steps_i)² is least; entry i takes at most cap_i.

    start: (k,) >= 0, the distance each entry begins with. Fills the lowest levels first.
    """
    level = np.floor(start).astype(np.int64)

    def filled(height: int) -> Integers:
        depth = np.maximum(height - level, 0)
        capped: Integers = depth if cap is None else np.minimum(depth, cap)
        return capped

    height = _highest(lambda h: int(filled(h).sum()) <= steps, int(level.min()), int(level.max()) + steps + 1)
    taken = filled(height)
    open_entries = level <= height if cap is None else (level <= height) & (taken < cap)
    last = _least_candidates(np.flatnonzero(open_entries), start - level, steps - int(taken.sum()))
    taken[last] += 1
    return taken


def _highest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest h in low..high where `holds`, which is true at low and false after some point."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _least_candidates(candidates: np.ndarray, key: np.ndarray, number: int) -> np.ndarray:
    """The `number` candidates of least key; equals in an order fixed by the length of `key` alone."""
    if number >= candidates.size:
        return candidates
    order = np.lexsort((fixed_order(key.size)[candidates], key[candidates]))
    return candidates[order[:number]]


def fixed_order(size: int) -> Integers:
    """0..size-1, shuffled, always the same: ties do not all fall on one end of the histogram."""
    order: Integers = np.arange(size, dtype=np.int32 if size < 2**31 else np.int64)
    repeatable(hashlib.sha256(b"order of equal cells").digest()).shuffle(order)
    return order
