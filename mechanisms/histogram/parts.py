"""Disjoint blocks joined to larger and larger parts, half by half, and the sums of their estimates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.arrays import Floats, Integers


class Parts(NamedTuple):
    """Parts of one size, in order: their estimates and numbers of blocks; and of each larger part the first."""

    sums: Floats
    blocks: Floats
    first: Integers


def parts_by_size(estimates: Floats, codes: Integers) -> list[Parts]:
    """From single blocks to everything; the last size has one part. Sizes at which no part is halved are left out.

    estimates: (k,). codes: (k,) int64 >= 0, rising: blocks whose codes agree but for the last l bits are one part of
    the l-th size.
    """
    sums, blocks, sizes = estimates, np.ones(estimates.size), []
    while codes.size > 1:
        codes = codes >> 1
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        if first.size < codes.size:
            sizes.append(Parts(sums, blocks, first))
            sums, blocks = np.add.reduceat(sums, first), np.add.reduceat(blocks, first)
            codes = codes[first]
    return [*sizes, Parts(sums, blocks, np.zeros(1, dtype=np.int64))]
