"""From estimates to the counts of a possible table, from the whole line of cells down to single cells.

Large blocks are known better than cells. So a block's people are fixed first, and only then divided among its
parts: errors in empty places cannot add up to a crowd, as they do when every cell is made non-negative alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mechanisms.arrays import RUN, Floats, Integers

# Stands for a part that is known to be empty: below any estimate, yet finite.
_EMPTY = -1e30


def top_down(estimates: np.ndarray, levels: Sequence[int], total: int, cells: int) -> np.ndarray:
    """Counts of a possible table near the estimates.

    estimates: (2^K,) floats, of which the first `cells` are real cells and the others are known to be empty.
    levels: the exponents of the block sizes at which to stop on the way down, the last one 0.
    total: >= 0, the sum of the counts. Returns (cells,) int64 >= 0.
    In every block the parts' counts are the nearest in L2 distance to their estimates among real numbers >= 0
    with the block's count as their sum, rounded to integers of the same sum. O(2^K log 2^K).
    """
    top = (estimates.size - 1).bit_length()
    counts = np.array([total], dtype=np.int64)
    for above, level in pairwise([top, *(e for e in levels if e < top)]):
        parts = estimates.reshape(-1, 2**level).sum(axis=1)
        parts[-(-cells // 2**level) :] = _EMPTY
        counts = _divided(parts.reshape(-1, 2 ** (above - level)), counts).ravel()
    return counts[:cells]


def _divided(values: Floats, totals: Integers) -> Integers:
    """Integers >= 0 near each row of values, of the row's total; some rows at a time."""
    divided, at_once = np.empty(values.shape, dtype=np.int64), max(1, RUN // values.shape[1])
    for first in range(0, len(values), at_once):
        rows = slice(first, first + at_once)
        divided[rows] = _rounded(_on_simplex(values[rows], totals[rows]), totals[rows])
    return divided


def _on_simplex(values: Floats, totals: Integers) -> Floats:
    """The nearest point of {θ >= 0, Σθ = total} to each row: (b, k) and (b,) to (b, k)."""
    falling = -np.sort(-values, axis=1)
    shift = (np.cumsum(falling, axis=1) - totals[:, None]) / np.arange(1, values.shape[1] + 1)
    positive = np.maximum(1, (falling > shift).sum(axis=1))
    nearest: Floats = np.maximum(0.0, values - np.take_along_axis(shift, positive[:, None] - 1, axis=1))
    return nearest


def _rounded(values: Floats, totals: Integers) -> Integers:
    """Integers of each row's exact sum: rounded down, then the largest fractions rounded up."""
    floors = np.floor(values).astype(np.int64)
    missing = totals - floors.sum(axis=1)
    order = np.argsort(floors - values, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(values.shape[1]), order.shape), axis=1)
    rounded: Integers = floors + (rank < missing[:, None])
    # Float sums of huge counts may be off by more than one a part; the largest part takes the difference.
    largest = values.argmax(axis=1)
    rounded[np.arange(len(rounded)), largest] += totals - rounded.sum(axis=1)
    return rounded
