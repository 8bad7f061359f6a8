"""A private partition of a line of cells into dyadic blocks that are nearly flat: the first stage of DAWA."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.noise import DiscreteLaplace, Noise


def deviations(counts: np.ndarray) -> Iterator[np.ndarray]:
    """For e = 0..K, of every aligned block of 2^e cells, Σ |x_i - median| over its cells; exact integers.

    counts: (2^K,) int64. Yields (2^(K-e),) int64. One row in one cell changes Σ |x_i - c| by at most 1 for every
    c, and so the least over c, which the median attains. O(2^K K): sorted halves are merged.
    """
    for e in range((counts.size - 1).bit_length() + 1):
        counts = np.sort(counts.reshape(-1, 2**e), axis=1, kind="stable")
        half = 2**e // 2
        yield (
            counts[:, half:].sum(axis=1) - counts[:, :half].sum(axis=1) if e else np.zeros_like(counts[:, 0])
        )


def private_partition(counts: Integers, law: DiscreteLaplace, block_cost: int, noise: Noise) -> Integers:
    """The dyadic partition of least noisy cost, as the exponents of its blocks from left to right.

    counts: (2^K,) int64. law: of scale 2D/ε where rows change the counts by at most D in L1. block_cost: a
    public charge for every block. Returns (b,) int64, Σ 2^e = 2^K. Bottom up, O(2^K K).
    Source: Li, Hay, Miklau, Wang 2014 (DAWA), with deviations from the median, which are integers.

    ε-DP. A block B costs c(B) = deviation + block_cost + Z_B with Z_B drawn once; a block is kept whole if that is
    at most the cost of the best partition of its halves. Let two tables differ by one row, in cell j, and
    fix a partition P; let B be its block that holds j. Fix all Z but Z_B. Then P is the result exactly if (i)
    inside P's blocks that do not hold j, and at the nodes above them that do not, the comparisons fall out as P
    says, (ii) c(B) is at most the cost of the best partition of B's halves, and (iii) at every node A above B the
    best partition of A's halves, whose part on B's side ends in c(B), costs less than c(A). (i) does not
    depend on j's count. (ii) and (iii) are upper bounds on Z_B; every partition has exactly one block that holds
    j, so one row moves the other side of each bound by at most 1 and deviation(B) by at most 1. So P results
    exactly if Z_B <= T, where T moves by at most 2 between the tables, and shifting Z_B by 2 changes its
    probabilities by at most e^(2/scale) = e^(ε/D). D such steps make ε.
    """
    best = np.zeros(0, dtype=np.int64)
    exponents = np.zeros(counts.size, dtype=np.int64)
    for e, deviation in enumerate(deviations(counts)):
        undivided = deviation + block_cost + noise.draw(law, deviation.size)
        if e == 0:
            best = undivided
            continue
        split = best.reshape(-1, 2).sum(axis=1)
        joined = undivided <= split
        best = np.where(joined, undivided, split)
        exponents.reshape(-1, 2**e)[joined] = e
    starts = np.arange(counts.size) % (1 << exponents) == 0
    chosen: Integers = exponents[starts]
    return chosen
