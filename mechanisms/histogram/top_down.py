"""From estimates to the counts of a possible table, from all blocks together down to single ones, half by half.

Large parts are known better than small ones. So a part's people are fixed first, and only then divided between its
halves: errors in empty places cannot add up to a crowd, as they do when every block is made non-negative alone.
"""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.histogram.least_people import least_people
from mechanisms.histogram.nearest_total import nearest_total
from mechanisms.histogram.parts import Parts, parts_by_size
from mechanisms.postprocess import fixed_order

# The total is that of the nearest table of at most so many parts: of smaller ones it would hardly differ.
_PARTS = 2**12
# The share of single blocks that stand out, at most, for what they hold to say more of the total than all estimates.
_FEW = 1 / 4


def top_down(estimates: np.ndarray, codes: Integers, error: float, *, total: int | None = None) -> Integers:
    """Counts of a possible table near the estimates.

    estimates: (k,) real, of disjoint blocks. codes: (k,) int64 >= 0, all different: blocks whose codes agree but for
    the last l bits are one part of the l-th size; its halves differ in the last of them (`blocks.halving_codes`).
    error: the standard error of the sum of any s estimates is at most error √s, in rows.
    total: >= 0, the sum of the counts; where it is not given, that of the `nearest_total`, or what the parts hold at
    least that stand out from the noise (`least_people`).
    Returns (k,) int64 >= 0. O(k log k) for each size.
    """
    order = np.argsort(codes, kind="stable")
    sizes = parts_by_size(estimates[order].astype(np.float64), codes[order])
    least = least_people(sizes, error)
    if total is None:
        coarse = [parts for parts in sizes if parts.sums.size <= _PARTS]
        nearest = round(nearest_total(coarse[0].sums, [parts.first for parts in coarse[:-1]]))
        total = max(nearest, int(least[-1][0])) if _few_stand_out(least[0]) else nearest
    counts = np.array([total], dtype=np.int64)
    del sizes[-1], least[-1]
    # One size after the other is let go: the single blocks, which come last, need the most memory.
    while sizes:
        counts = _divided(sizes.pop(), least.pop(), counts)
    placed = np.empty_like(counts)
    placed[order] = counts
    return placed


def _few_stand_out(least: Integers) -> bool:
    """Whether their sum has less noise than the total: half of its standard error at most.

    Of many that stand out, those whose noise is high are chosen, which adds up to more than they save.
    """
    return bool(np.count_nonzero(least) <= _FEW * least.size)


def _divided(parts: Parts, least: Integers, totals: Integers) -> Integers:
    """The counts of parts of one size, given those of the larger parts that hold one or two of them each.

    least: (parts,) what each holds at least; where both halves' together is more than the total, neither gets more.
    """
    halves = np.diff(parts.first, append=parts.sums.size)
    counts = np.repeat(totals, halves)
    left, of = parts.first[halves == 2], totals[halves == 2]
    low, high = np.minimum(least[left], of), np.maximum(0, of - least[left + 1])
    counts[left] = np.clip(_left_halves(parts, left, of), np.minimum(low, high), np.maximum(low, high))
    counts[left + 1] = of - counts[left]
    return counts


def _left_halves(parts: Parts, left: Integers, totals: Integers) -> Integers:
    """Counts of the left ones of two halves: 0..total, near the best estimate where the total is known.

    What the estimates miss of the total is shared in proportion to the blocks, as their variances.
    """
    blocks, others = parts.blocks[left], parts.blocks[left + 1]
    share = blocks / (blocks + others)
    best = parts.sums[left] + share * (totals - parts.sums[left] - parts.sums[left + 1])
    smaller = np.minimum(best, totals - best)
    held = np.flatnonzero(totals > 0)
    left_counts = np.zeros(left.size, dtype=np.int64)
    left_counts[held] = np.minimum(
        _with_mean_preserved(smaller[held], np.sqrt(others * share)[held]), totals[held] // 2
    )
    return np.where(best <= totals - best, left_counts, totals - left_counts)


def _with_mean_preserved(smaller: Floats, error: Floats) -> Integers:
    """Whole numbers >= 0 for the smaller halves, together no more than their estimates: (b,) and (b,) to (b,).

    error: their standard errors, up to a factor. Where one half is empty, its estimate is as often above 0 as below;
    with the negative ones made 0 and the others left alone, the empty halves of a table would take people from
    the full ones, in every range that holds many of them. So the least ones, in standard errors, become 0 too, until
    the rest sum to what all of them did ("Norm-Cut", Wang et al. 2020, here for the halves of one size).
    """
    integers = np.maximum(0, np.rint(smaller)).astype(np.int64)
    positive = np.flatnonzero(integers)
    order = positive[np.lexsort((fixed_order(positive.size), -(smaller / error)[positive]))]
    nonzero = np.searchsorted(np.cumsum(integers[order]), smaller.sum() - 0.5) + 1 if smaller.sum() > 0 else 0
    integers[order[nonzero:]] = 0
    return integers
