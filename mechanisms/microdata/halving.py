"""Where blocks of many columns' cells are cut in two: a function of noisy counts of single columns alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.histogram.blocks import Boxes
from mechanisms.microdata.whole_rows import WholeRows

# From flags of all boxes of a depth, which have more than one cell, and the depth: which of those are halved.
Decide = Callable[[Flags, int], Flags]
# Told for all boxes of a depth which are halved, and along which axis before which cell those are cut.
Follow = Callable[[Flags, Integers, Integers], None]


class Halving:
    """Cuts a block along the column that is least certain in it, where half of the column's rows lie on either side.

    shares: of each column (c,) >= 0. weights: of each column, by which its uncertainty counts more.
    """

    def __init__(self, shares: Sequence[Floats], weights: Sequence[int]) -> None:
        self._weights = weights
        self._below = [np.concatenate([[0.0], np.cumsum(share)]) for share in shares]
        self._spread = [
            np.concatenate([[0.0], np.cumsum(-share * np.log(np.maximum(share, 1e-300)))]) for share in shares
        ]

    def cuts(self, boxes: Boxes) -> tuple[Integers, Integers]:
        """For each box of more than one cell the axis, and the cell before which it is cut, (k,) each."""
        axis, most = np.zeros(len(boxes), dtype=np.int64), np.full(len(boxes), -np.inf)
        for j in range(len(self._below)):
            uncertain = self._uncertain(boxes, j)
            axis[uncertain > most] = j
            np.maximum(most, uncertain, out=most)
        at = np.empty(len(boxes), dtype=np.int64)
        for j, below in enumerate(self._below):
            chosen = axis == j
            lower, upper = boxes.lower[chosen, j], boxes.upper[chosen, j]
            half = (below[lower] + below[upper]) / 2
            place = np.searchsorted(below, half)
            place -= half - below[np.maximum(place - 1, 0)] < below[np.minimum(place, below.size - 1)] - half
            at[chosen] = np.clip(place, lower + 1, upper - 1)
        return axis, at

    def _uncertain(self, boxes: Boxes, column: int) -> Floats:
        """The entropy of a column inside each box, times its weight; -1 where it has one cell."""
        lower, upper = boxes.lower[:, column], boxes.upper[:, column]
        share = np.maximum(self._below[column][upper] - self._below[column][lower], 1e-12)
        spread = self._spread[column][upper] - self._spread[column][lower]
        entropy = np.maximum(spread / share + np.log(share), 0)
        result: Floats = np.where(upper - lower > 1, self._weights[column] * entropy, -1.0)
        return result


def grown(shape: tuple[int, ...], halving: Halving, decide: Decide, follow: Follow) -> list[Boxes]:
    """The leaves of the tree, those of each depth; boxes of one cell are leaves without being asked for.

    Their ends are as small integers as there can be: of many columns and leaves they are most of the memory.
    """
    small, root = np.min_scalar_type(max(shape)), Boxes.covering(shape)
    boxes, leaves, depth = Boxes(root.lower.astype(small), root.upper.astype(small)), list[Boxes](), 0
    while len(boxes):
        halved: Flags = boxes.widths.max(axis=1) > 1
        halved[halved] = decide(halved, depth)
        leaves.append(boxes[~halved])
        axis, at = halving.cuts(boxes[halved])
        follow(halved, axis, at)
        boxes, depth = boxes[halved].cut(axis, at), depth + 1
    return leaves


class Places:
    """In which block of the present depth each of people's rows is; -1 once that is a leaf. Nobody may see them."""

    def __init__(self, packing: WholeRows, packed: Integers) -> None:
        self._packing, self._packed = packing, packed
        self._block = np.zeros(packing.number(packed), dtype=np.int32)

    def counts(self, blocks: int) -> Integers:
        result: Integers = np.bincount(self._block[self._block >= 0], minlength=blocks).astype(np.int64)
        return result

    def follow(self, halved: Flags, axis: Integers, at: Integers) -> None:
        """Rows of a halved block go to one of its parts, the others to rest."""
        number = np.where(halved, halved.cumsum() - 1, -1)
        start = 0
        for rows in self._packing.blocks(self._packed):
            block = self._block[start : start + len(rows)]
            moving = np.flatnonzero(block >= 0)
            to = number[block[moving]]
            block[moving] = -1
            moving, to = moving[to >= 0], to[to >= 0]
            block[moving] = 2 * to + (rows[moving, axis[to]] >= at[to])
            start += len(rows)
