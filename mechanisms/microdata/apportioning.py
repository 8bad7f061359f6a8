"""Whole rows from shares: as near to the shares as whole numbers can be, in an order that says nothing."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers


def systematic(shares: Floats, sizes: Integers, random: np.random.Generator) -> Integers:
    """Whole counts near sizes · shares, row by row.

    shares: (g, c) >= 0, each row with a positive sum. sizes: (g,) rows to share out. Returns (g, c) int64; a row's
    counts sum to its size and each differs from its share by less than 1 (systematic sampling, a start for each row).
    """
    ends = np.cumsum(shares, axis=1, dtype=np.float64)
    ends *= (sizes / ends[:, -1])[:, None]
    steps = np.floor(ends + random.random((sizes.size, 1))).astype(np.int64)
    steps = np.minimum(steps, sizes[:, None])
    steps[:, -1] = sizes
    return np.diff(steps, axis=1, prepend=0)


def dealt(groups: np.ndarray, shares: Floats, random: np.random.Generator) -> Integers:
    """A value for each row, so that every group of rows has its shares of values, in random order within the group.

    groups: (n,) integers below g. shares: (g, c). Returns (n,) int64 below c. Each call permutes afresh: two columns
    that are dealt to the same groups are independent given the group, up to whole numbers.
    """
    counts = systematic(shares, np.bincount(groups, minlength=shares.shape[0]), random)
    values = np.repeat(np.tile(np.arange(shares.shape[1]), shares.shape[0]), counts.ravel())
    order = np.lexsort((random.random(groups.size), groups))
    dealt_ = np.empty(groups.size, dtype=np.int64)
    dealt_[order] = values
    return dealt_


def recounted(values: Integers, counts: Integers, random: np.random.Generator) -> Integers:
    """(n,) values of which each stands as often as its count says, by as few changes as possible.

    values: (n,) below c. counts: (c,) >= 0 with the sum n. Of a value that stands too often, rows at random take one
    that does not stand often enough.
    """
    now = np.bincount(values, minlength=counts.size)
    surplus, first = now - counts, np.cumsum(now) - now
    shuffled = random.permutation(values.size)
    # Few bytes are sorted in a time that grows with the rows alone.
    few_bytes = values[shuffled].astype(np.min_scalar_type(counts.size))
    order = shuffled[np.argsort(few_bytes, kind="stable")]
    rank = np.arange(values.size) - first[values[order]]
    changed = order[rank < surplus[values[order]]]
    result = values.copy()
    result[changed] = random.permutation(np.repeat(np.arange(counts.size), np.maximum(-surplus, 0)))
    return result
