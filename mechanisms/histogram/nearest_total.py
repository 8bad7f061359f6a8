"""How many people a table holds, where its estimates are noisy and no part of it can hold fewer than none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Floats, Integers


def nearest_total(estimates: Floats, firsts: Sequence[Integers]) -> float:
    """The sum of the real counts c >= 0 that minimise Σ_l 2^l Σ_v (c(v) - y(v))² over the parts v of every size l.

    estimates: (k,), of the smallest parts, in order; y(v) and c(v) are sums over a part. firsts: for every larger
    size, the places of the parts of the size before at which its parts begin; the last one is [0].
    The weights make the distance nearly that of running totals. The truth is in the convex set of tables >= 0, so the
    nearest of them is never further from the truth than the estimates, whose sum has the noise of all empty places.

    Exact, O(k log k) for each size. Let t be a part's count and m half the derivative by t of its parts' least cost.
    Halves have one m, so a part's t(m) is the sum of theirs: Σ_i a_i max(0, m - b_i), with one breakpoint b_i for each
    smallest part, where its count begins to be more than 0. The part's own square moves m to m + 2^l (t(m) - y(v)),
    which keeps the breakpoints in order. For all parts together m is 0.
    """
    breakpoints, steps, weight = -estimates, np.ones(estimates.size), 1
    sums, start = estimates, np.arange(estimates.size)
    for first in firsts:
        weight *= 2
        sums, start = np.add.reduceat(sums, first), start[first]
        sizes = np.diff(start, append=estimates.size)
        order = np.lexsort((breakpoints, np.repeat(np.arange(start.size), sizes)))
        breakpoints, steps = breakpoints[order], steps[order]
        slopes = _part_sums(np.cumsum(steps), steps, start, sizes)
        rises = np.concatenate([[0.0], slopes[:-1]]) * np.diff(breakpoints, prepend=breakpoints[0])
        reached = _part_sums(np.cumsum(rises), np.zeros_like(rises), start, sizes)
        breakpoints = breakpoints + weight * (reached - np.repeat(sums, sizes))
        slopes = slopes / (1 + weight * slopes)
        steps = np.diff(slopes, prepend=0.0)
        steps[start] = slopes[start]
    return float(steps @ np.maximum(0.0, -breakpoints))


def _part_sums(running: Floats, own: Floats, start: Integers, sizes: Integers) -> Floats:
    """Running sums over all parts made those within each part: its first entry becomes its own."""
    within: Floats = running - np.repeat(running[start] - own[start], sizes)
    return within
