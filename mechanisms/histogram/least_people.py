"""How many people parts of a table hold at least, where they stand out from the noise.

A table's total is only as sure as the noise of all its empty places together. Where nearly everybody is in few places,
those places say more about the total than it says about them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.histogram.parts import Parts

# Of so many tables without people, one has a part of a given size that stands out.
_TABLES = 20


def least_people(sizes: Sequence[Parts], error: float) -> list[Integers]:
    """For each size of parts, whole numbers >= 0 that their people surely exceed, up to a standard error.

    sizes: as `parts_by_size` gives them. error: the standard error of the sum of any s estimates is at most error √s.
    A part that stands out by itself is taken as a whole, unless its halves say more: then those of them that stand out,
    whose sum has less noise than the part's own. One standard error is taken off. O(k) for each size.
    """
    held, within, first = np.zeros(1), np.zeros(1), None
    least = []
    for parts in sizes:
        if first is not None:
            held, within = np.add.reduceat(held, first), np.add.reduceat(within, first)
        by_halves = _excess(held, within, parts.sums.size, error)
        itself = _excess(parts.sums, parts.blocks, parts.sums.size, error) > by_halves
        held, within = np.where(itself, parts.sums, held), np.where(itself, parts.blocks, within)
        certain = np.sqrt(within)
        certain *= -error
        certain += held
        least.append(np.maximum(certain, 0, out=certain).astype(np.int64))
        first = parts.first
    return least


def _excess(sums: Floats, blocks: Floats, parts: int, error: float) -> Floats:
    """By how much sums exceed what the noise of one in so many parts comes to.

    sums, blocks: (k,) estimates, and how many blocks each is of; noise of none is 0. Discrete Laplace noise of one
    block exceeds u times its scale with chance e^-u / 2, its scale being the standard error over √2; the sum of many
    is nearly normal. In place: of very many cells every further array counts.
    """
    chance = math.log(_TABLES * parts)
    reach = np.sqrt(blocks)
    reach *= math.sqrt(2 * chance)
    np.maximum(reach, chance / math.sqrt(2), out=reach)
    reach[blocks == 0] = 0
    reach *= error
    beyond: Floats = np.subtract(sums, reach, out=reach)
    return beyond
