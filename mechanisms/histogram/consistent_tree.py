"""Nested partitions: noisy counts of every level made to agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
