"""Tables that several fits agree on, moved to what was measured where noise does not explain the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mechanisms.arrays import Flags, Floats
from mechanisms.microdata.mixture import Target
from mechanisms.microdata.table_with_sums import with_sums
from mechanisms.microdata.tables import Grouping, Pair

# Standard errors from which on a cell is moved further than its table is: of a hundred that are met, five are beyond.
BEYOND_NOISE = 2
# Standard errors that the count by independence exceeds where 0 in a cell's interval cannot be chance: two values that
# exclude each other, which classes never quite do. One standard error is enough then to prefer what was measured.
BEYOND_CHANCE, PREFERRED = 20, 1
# A table whose noise is expected to be wrong by less than this share of the rows is taken as it was measured: there is
# next to nothing to win by a fit, which is the worse where noise happens to be small.
PRECISE = 1 / 200
# A share of the rows below which a cell can hold next to nobody.
NEXT_TO_NOBODY = 1 / 1000
_TINY = 1e-12


def agreed(
    grouping: Grouping, fits: Sequence[Floats], targets: Mapping[Pair, Target], total: float
) -> Floats:
    """(S, S) shares of all pairs of groups: the mean of fits, (S, S) each, near to the targets, with its margins.

    Post-processing of what was measured. Fits from several starts differ by what the measurements leave open; their
    mean errs less than each of them.
    """
    tables: Floats = np.mean(fits, axis=0, dtype=np.float64)
    for (a, b), target in targets.items():
        own, other = grouping.place(a), grouping.place(b)
        expected = tables[own, other] * total
        moved = towards(expected, target, grouping.nobody.get((a, b), np.zeros(expected.shape, bool)))
        tables[own, other] = moved / total
        tables[other, own] = moved.T / total
    return tables


def towards(expected: Floats, target: Target, nobody: Flags) -> Floats:
    """(g_a, g_b) >= 0 with the sums of the expected table, moved to a measured one as far as its noise lets tell.

    nobody: (g_a, g_b) where nobody can be.
    The share of the way is James's and Stein's, or all of it where the table `is_precise`; of a cell that lies further
    off than noise brings it, the share of its own distance, if that is larger. Where next to nobody was measured, the
    measurement alone is taken.
    """
    distance = target.table - expected
    share = 1.0 if is_precise(target, float(expected.sum())) else shrinkage(distance, target.variance)
    far = BEYOND_NOISE**2 * target.variance / np.maximum(np.square(distance), _TINY)
    moved = expected + np.maximum(share, 1 - np.minimum(1, far)) * distance
    rare = next_to_nobody(expected, target) & ~nobody
    few = np.where(rare, garrote(target), 0)
    sums = (np.maximum(0, expected.sum(axis=axis) - few.sum(axis=axis)) for axis in (1, 0))
    return few + with_sums(np.where(nobody | rare, -np.inf, moved), *sums)


def is_precise(target: Target, total: float) -> bool:
    """Whether noise alone is expected to move a small share of the rows: half of the sum of |noise|, σ√(2/π) a cell."""
    moved = target.table.size * math.sqrt(target.variance / (2 * math.pi))
    return moved < PRECISE * total


def shrinkage(distance: Floats, variance: float) -> float:
    """The share of the way to a noisy table with given sums, 1 - (f - 2)σ²/‖d‖², 0 at least (James and Stein 1961).

    f = (r - 1)(c - 1): in so many directions d, the (r, c) distance without what its sums say, is free. In one or two
    nothing is better on the whole than the measurement.
    """
    free = distance - distance.mean(axis=0) - distance.mean(axis=1)[:, None] + distance.mean()
    directions = (distance.shape[0] - 1) * (distance.shape[1] - 1)
    explained: float = max(0, directions - 2) * variance / max(float(np.square(free).sum()), _TINY)
    return max(0.0, 1.0 - explained)


def next_to_nobody(expected: Floats, target: Target) -> Flags:
    """Cells that are estimated at less than a thousandth of all, with 0 in their interval but not what is expected."""
    deviation, total = target.variance**0.5, float(expected.sum())
    few = garrote(target) < NEXT_TO_NOBODY * total
    holds_0 = target.table < BEYOND_NOISE * deviation
    by_chance = np.outer(expected.sum(axis=1), expected.sum(axis=0)) / max(total, _TINY)
    off = np.where(by_chance > BEYOND_CHANCE * deviation, PREFERRED, BEYOND_NOISE) * deviation
    is_rare: Flags = np.logical_and(few & holds_0, expected - target.table > off)
    return is_rare


def garrote(target: Target) -> Floats:
    """Counts drawn to 0 by as much as noise has moved them, y - σ²/y: 0 up to one standard error (Breiman 1995)."""
    positive = np.maximum(target.table, _TINY)
    estimate: Floats = np.maximum(0, positive - target.variance / positive)
    return estimate
