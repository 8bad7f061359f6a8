"""From estimates to the counts of a possible table, from all blocks together down to single ones, half by half.

Large parts are known better than small ones. So a part's people are fixed first, and only then divided between its
halves: errors in empty places cannot add up to a crowd, as they do when every block is made non-negative alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.histogram.nearest_total import nearest_total
from mechanisms.postprocess import fixed_order

# The total is that of the nearest table of at most so many parts: of smaller ones it would hardly differ.
_PARTS = 2**12


class _Level(NamedTuple):
    """Parts of one size, in order: their estimates and numbers of blocks; and of each larger part the first."""

    sums: Floats
    blocks: Floats
    first: Integers


def top_down(estimates: np.ndarray, codes: Integers, total: int | None = None) -> Integers:
    """Counts of a possible table near the estimates.

    estimates: (k,) real, of disjoint blocks. codes: (k,) int64 >= 0, all different: blocks whose codes agree but for
    the last l bits are one part of the l-th size; its halves differ in the last of them (`blocks.halving_codes`).
    total: >= 0, the sum of the counts; where it is not given, that of the `nearest_total`.
    Returns (k,) int64 >= 0. O(k log k) for each size.
    """
    order = np.argsort(codes, kind="stable")
    levels = _levels(estimates[order].astype(np.float64), codes[order])
    if total is None:
        coarse = [level for level in levels if level.sums.size <= _PARTS]
        total = round(nearest_total(coarse[0].sums, [level.first for level in coarse[:-1]]))
    counts = np.array([total], dtype=np.int64)
    for level in reversed(levels[:-1]):
        counts = _divided(level, counts)
    placed = np.empty_like(counts)
    placed[order] = counts
    return placed


def _levels(sums: Floats, codes: Integers) -> list[_Level]:
    """From single blocks to everything; the last level is one part. Sizes at which no part is halved are left out."""
    blocks, levels = np.ones(sums.size), []
    while codes.size > 1:
        codes = codes >> 1
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        if first.size < codes.size:
            levels.append(_Level(sums, blocks, first))
            sums, blocks = np.add.reduceat(sums, first), np.add.reduceat(blocks, first)
            codes = codes[first]
    return [*levels, _Level(sums, blocks, np.zeros(1, dtype=np.int64))]


def _divided(level: _Level, totals: Integers) -> Integers:
    """The counts of a level's parts, given those of the larger parts that hold one or two of them each."""
    halves = np.diff(level.first, append=level.sums.size)
    counts = np.repeat(totals, halves)
    left, of = level.first[halves == 2], totals[halves == 2]
    counts[left] = _left_halves(level, left, of)
    counts[left + 1] = of - counts[left]
    return counts


def _left_halves(level: _Level, left: Integers, totals: Integers) -> Integers:
    """Counts of the left ones of two halves: 0..total, near the best estimate where the total is known.

    What the estimates miss of the total is shared in proportion to the blocks, as their variances.
    """
    blocks, others = level.blocks[left], level.blocks[left + 1]
    share = blocks / (blocks + others)
    best = level.sums[left] + share * (totals - level.sums[left] - level.sums[left + 1])
    smaller = np.minimum(best, totals - best)
    held = np.flatnonzero(totals > 0)
    kept = np.zeros(left.size, dtype=np.int64)
    kept[held] = np.minimum(_mean_kept(smaller[held], np.sqrt(others * share)[held]), totals[held] // 2)
    return np.where(best <= totals - best, kept, totals - kept)


def _mean_kept(smaller: Floats, error: Floats) -> Integers:
    """Whole numbers >= 0 for the smaller halves, together no more than their estimates: (b,) and (b,) to (b,).

    error: their standard errors, up to a factor. Where one half is empty, its estimate is as often above 0 as below;
    with the negative ones made 0 and the others left alone, the empty halves of a table would take people from
    the full ones, in every range that holds many of them. So the least ones, in standard errors, become 0 too, until
    the rest sum to what all of them did ("Norm-Cut", Wang et al. 2020, here for the halves of one size).
    """
    whole = np.maximum(0, np.rint(smaller)).astype(np.int64)
    positive = np.flatnonzero(whole)
    order = positive[np.lexsort((fixed_order(positive.size), -(smaller / error)[positive]))]
    kept = np.searchsorted(np.cumsum(whole[order]), smaller.sum() - 0.5) + 1 if smaller.sum() > 0 else 0
    whole[order[kept:]] = 0
    return whole
