"""Nested partitions: noisy counts of every level made to agree, and made those of a possible table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.postprocess import lattice_simplex


@dataclass(frozen=True)
class Level:
    """One partition's noisy counts.

    counts: (k,) integers. variance: of each one's noise, in rows², >= 0.
    parents: (k,) integers, the block of the level above that holds each block; unused on the first level.
    """

    counts: np.ndarray
    variance: float
    parents: np.ndarray


def consistent_leaves(levels: list[Level]) -> np.ndarray:
    """The best linear unbiased estimates of the last level's counts, given the noisy counts of all levels.

    levels: from the coarsest to the finest, each refining the one above, every block with a child.
    Returns (k,) floats for the finest level. One pass up and one pass down, O(blocks).
    Source: Hay et al. 2010, Theorem 3, for any number of children; Cormode et al. 2012, for variances that
    differ between levels.
    """
    *upper, last = levels
    estimate = last.counts.astype(np.float64)
    variance = np.full(estimate.size, max(last.variance, _TINY))
    up = [(estimate, variance)]
    for level, below in zip(reversed(upper), reversed(levels), strict=False):
        below_sum, below_variance = (_by_parent(a, below, level.counts.size) for a in up[-1])
        weight = below_variance / (below_variance + max(level.variance, _TINY))
        up.append((weight * level.counts + (1 - weight) * below_sum, (1 - weight) * below_variance))
    up.reverse()
    above = up[0][0]
    for level, (estimate, variance) in zip(levels[1:], up[1:], strict=True):
        missing = above - _by_parent(estimate, level, above.size)
        share = variance / _by_parent(variance, level, above.size)[level.parents]
        above = estimate + share * missing[level.parents]
    return above


# Noise so small that its variance underflows still weighs something.
_TINY = 1e-300


def _by_parent(values: np.ndarray, level: Level, parents: int) -> np.ndarray:
    return np.bincount(level.parents, weights=values, minlength=parents)


def possible_leaves(estimates: np.ndarray, parents: Sequence[np.ndarray], total: int) -> np.ndarray:
    """Integers >= 0 of sum `total` near the estimates of the finest level, fixed from the coarsest level down.

    estimates: (k,) real. parents: from the coarsest to the finest, for each level but the first the (k_l,) block
    of the level above that holds each block; empty for one level. Returns (k,) int64. O(blocks log blocks).
    Large blocks are known better than small ones, so their people are fixed first, then divided among their
    parts; made non-negative by themselves, many parts of empty places would add up to a crowd.
    """
    sums: list[np.ndarray] = [estimates.astype(np.float64)]
    for parent in reversed(parents):
        sums.append(np.bincount(parent, weights=sums[-1]))
    counts = lattice_simplex(sums.pop(), total)
    for parent, parts in zip(parents, reversed(sums), strict=True):
        counts = _divided(parts, parent, counts)
    return counts


def _divided(values: Floats, groups: Integers, totals: Integers) -> Integers:
    """Each group's total divided among its parts: the nearest real numbers >= 0 in L2, rounded to integers.

    values: (k,). groups: (k,) in 0..b-1, each with a part. totals: (b,) integers >= 0. Returns (k,) int64.
    """
    near = _on_simplex(values, groups, totals)
    floors = np.floor(near).astype(np.int64)
    missing = totals - _integer_sums(floors, groups, totals.size)
    place = _places(groups, near - floors)
    floors += place < missing[groups]
    # Sums of floats may be off by more than a part's rounding; the largest part takes the difference.
    first = _places(groups, values) == 0
    floors[first] += (totals - _integer_sums(floors, groups, totals.size))[groups[first]]
    return floors


def _on_simplex(values: Floats, groups: Integers, totals: Integers) -> Floats:
    """The nearest point of {θ >= 0, Σθ = total} for each group (Held, Wolfe, Crowder 1974, sorted)."""
    order = np.lexsort((-values, groups))
    falling, group = values[order], groups[order]
    sizes = np.bincount(groups)
    start = np.cumsum(sizes) - sizes
    running = np.cumsum(falling)
    before = running[start] - falling[start]
    rank = np.arange(values.size) - start[group]
    shift = (running - before[group] - totals[group]) / (rank + 1)
    positive = np.maximum(1, np.bincount(group, weights=falling > shift).astype(np.int64))
    nearest: Floats = np.maximum(0.0, values - shift[start + positive - 1][groups])
    return nearest


def _places(groups: np.ndarray, key: np.ndarray) -> np.ndarray:
    """(k,) each part's place in its group by falling key, from 0."""
    order = np.lexsort((-key, groups))
    sizes = np.bincount(groups)
    places = np.empty(key.size, dtype=np.int64)
    places[order] = np.arange(key.size) - (np.cumsum(sizes) - sizes)[groups[order]]
    return places


def _integer_sums(values: np.ndarray, groups: np.ndarray, number: int) -> np.ndarray:
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums
