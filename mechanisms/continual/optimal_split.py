"""The splits of FDA with the place of every split free as well: g(n) = min over p of the summed error of n counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.continual.splits import Splits, SplitStream, joined, root, share_of

LONGEST_SPLIT = 2**16
# Up to here every p is tried; beyond, the p at these multiples of n/256, around where the best of them lie. The error
# is so flat in p that this loses less than 1 in 1,000.
_EVERY = 1024
_NEAR_BEST = {Definition.PURE: np.arange(13, 64), Definition.ZCDP: np.arange(96, 132)}


@dataclass(frozen=True)
class _Table:
    """For n = 0, 1, ...: the least summed energy, where to split, what share goes to the earlier part, the depth."""

    energies: np.ndarray
    middles: np.ndarray
    shares: np.ndarray
    depths: np.ndarray


@lru_cache(maxsize=8)
def _table(largest: int, definition: Definition) -> _Table:
    """g(n) = min over p of (g(p-1)^⅓ + (n-p+1)^⅓)³ + g(n-p). An entry does not depend on how long the table is."""
    energies, roots = np.zeros(largest + 1), np.zeros(largest + 1)
    middles = np.zeros(largest + 1, dtype=np.int64)
    reuse = root(np.arange(largest + 1, dtype=np.float64), definition)
    first = 1
    while first <= largest:
        # All n of a chunk look only at entries before it.
        last = first if first <= _EVERY else min(largest, first + first // 24)
        n = np.arange(first, last + 1)[:, np.newaxis]
        p = np.arange(1, first + 1)[np.newaxis] if first <= _EVERY else n * _NEAR_BEST[definition] // 256
        errors = joined(roots[p - 1], reuse[n - p + 1], definition) + energies[n - p]
        best = np.argmin(errors, axis=1)[:, np.newaxis]
        middles[first : last + 1] = np.take_along_axis(p, best, axis=1)[:, 0]
        energies[first : last + 1] = np.take_along_axis(errors, best, axis=1)[:, 0]
        roots[first : last + 1] = root(energies[first : last + 1], definition)
        first = last + 1
    n = np.arange(1, largest + 1)
    shares = share_of(roots[middles[1:] - 1], reuse[n - middles[1:] + 1])
    return _Table(energies, middles, np.concatenate([[0], shares]), _depths(middles))


def _depths(middles: np.ndarray) -> np.ndarray:
    """The most answers that an increment is in: one more than before the split, or those behind it."""
    depths = [0]
    for n, p in enumerate(middles.tolist()[1:], 1):
        depths.append(max(depths[p - 1] + 1, depths[n - p]))
    return np.array(depths)


@lru_cache(maxsize=32)
def optimal_splits(horizon: int, definition: Definition) -> Splits:
    """Splits of every n up to the horizon. One table serves all horizons up to the next power of two."""
    table = _table(1 << (horizon - 1).bit_length(), definition)
    upto = slice(1, horizon + 1)
    return Splits(
        sizes=np.arange(1, horizon + 1),
        middles=table.middles[upto],
        shares=table.shares[upto],
        energy=float(table.energies[horizon]),
        depth=int(table.depths[horizon]),
    )


class OptimalSplit(SplitStream):
    """A chain of sums whose lengths and weights are both optimal; for up to 65,536 periods."""

    name: ClassVar[str] = "optimal-split"
    title: ClassVar[str] = "Optimal splits"
    summary: ClassVar[str] = (
        "Sums over stretches whose lengths and weights are both optimised; needs little memory."
    )
    longest: ClassVar[int] = LONGEST_SPLIT
    splits = staticmethod(optimal_splits)
