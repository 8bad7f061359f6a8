"""Partitions of a box of cells into blocks: labels, exact sums, and even spreading inside a block.

Labels are (n,) int64 in cell order (C order of the domain's shape), 0..k-1, one for each of k blocks. A
partition never depends on true counts, only on public numbers and on what was measured before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mechanisms.arrays import Floats, Integers

Shape = tuple[int, ...]
# 2^32 over the golden ratio: its multiples, modulo 2^32, spread as evenly as any.
_GOLDEN = 2654435769


def grid_labels(shape: Shape, sides: np.ndarray) -> np.ndarray:
    """A grid: axis j of w cells is cut into sides_j intervals, cell i into interval ⌊i·sides_j/w⌋.

    shape: d axes. sides: (d,) integers, 1 <= sides_j <= shape_j, so that no block is empty. Grids of 2^l and
    2^(l+1) intervals are nested. Returns (n,) labels in C order of the grid.
    """
    labels = np.zeros(shape, dtype=np.int64)
    for axis, (width, side) in enumerate(zip(shape, sides.tolist(), strict=True)):
        interval = np.arange(width, dtype=np.int64) * side // width
        labels = labels * side + _on_axis(interval, axis, len(shape))
    return labels.ravel()


def halvings(shape: Shape, depth: int) -> list[np.ndarray]:
    """The grids of 2^l intervals an axis, l = 0, 1, ..., until the depth or until every block is one cell.

    Returns (d,) sides of each grid; an axis of fewer than 2^l cells keeps them. Each grid refines the one before.
    """
    last = min(depth, (max(shape) - 1).bit_length())
    return [np.minimum(2**level, np.array(shape, dtype=np.int64)) for level in range(last + 1)]


def nesting(grids: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """For each of the `halvings` but the first, the block of the grid before that holds each block.

    Interval k of 2^(l+1) lies in ⌊k/2⌋; where an axis has fewer than 2^(l+1) cells, its intervals are cells.
    """
    return tuple(grid_labels(tuple(grid.tolist()), above) for above, grid in pairwise(grids))


def halving_codes(places: Integers, sides: Integers) -> Integers:
    """Where blocks of a grid are when the longest column is halved again and again, down to single blocks.

    places: (k, d) intervals. sides: (d,), or (k, d) where grids differ. Returns (k,) codes >= 0, one for each place
    of a grid: its l-th bit from the right says in which half of the l-th smallest part the block is.
    """
    bits = [int(side - 1).bit_length() for side in np.atleast_2d(sides).max(axis=0)]
    halves = (places << np.array(bits)) // sides
    codes = np.zeros(len(places), dtype=np.int64)
    while max(bits) > 0:
        axis = bits.index(max(bits))
        bits[axis] -= 1
        codes = codes << 1 | halves[:, axis] >> bits[axis] & 1
    return codes


def grid_codes(sides: Integers) -> Integers:
    """`halving_codes` of all blocks of a grid, in C order. Each axis has bits of its own, so axes are added up."""
    codes = np.zeros(tuple(sides.tolist()), dtype=np.int64)
    for axis, own in enumerate(np.eye(sides.size, dtype=np.int64)):
        along = np.arange(sides[axis])[:, None] * own
        codes += _on_axis(halving_codes(along, sides), axis, sides.size)
    return codes.ravel()


def block_sums(counts: np.ndarray, labels: np.ndarray, blocks: int) -> np.ndarray:
    """Exact integer sums: counts (n,) int64, labels (n,). Returns (blocks,) int64."""
    sums = np.zeros(blocks, dtype=np.int64)
    np.add.at(sums, labels, counts)
    return sums


def block_sizes(labels: np.ndarray, blocks: int) -> np.ndarray:
    """Number of cells of each block, (blocks,) int64."""
    return np.bincount(labels, minlength=blocks)


def spread(estimates: Floats, labels: Integers) -> Floats:
    """Each block's estimate in equal parts over its cells: (k,) real in, (n,) float out."""
    even: Floats = (estimates / block_sizes(labels, estimates.size))[labels]
    return even


def deal(totals: np.ndarray, labels: np.ndarray, shape: Shape) -> np.ndarray:
    """Each block's rows dealt out evenly over its cells: (k,) integers >= 0 in, (n,) int64 out.

    Any run of a block's cells holds its even share to within 1: in cell order for one column, for several in the order
    of `halving_codes`, since in cell order few rows may come to lie in one line across. Where in its
    block the first row lies differs from block to block. Rounding cell by cell instead would empty every block that
    holds less than half a row a cell.
    """
    sizes = block_sizes(labels, totals.size)
    near = np.argsort(grid_codes(np.array(shape, dtype=np.int64)))
    order = near[np.argsort(labels[near], kind="stable")]
    place = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    every, over = np.divmod(totals, sizes)
    sorted_labels = labels[order]
    first = (np.arange(totals.size) * _GOLDEN % 2**32 * sizes >> 32)[sorted_labels]
    over, size = over[sorted_labels], sizes[sorted_labels]
    counts = np.empty(labels.size, dtype=np.int64)
    counts[order] = (
        every[sorted_labels] + ((place + 1) * over + first) // size - (place * over + first) // size
    )
    return counts


def _on_axis(values: np.ndarray, axis: int, axes: int) -> np.ndarray:
    """values (w,) shaped to broadcast along one of `axes` axes."""
    return values.reshape(tuple(-1 if a == axis else 1 for a in range(axes)))


class SummedArea:
    """Sums over boxes in 2^d look-ups each, exact in int64."""

    def __init__(self, counts: np.ndarray, shape: Shape) -> None:
        """counts: (n,) int64 in C order of shape."""
        table = np.zeros(tuple(w + 1 for w in shape), dtype=np.int64)
        inner = table[(slice(1, None),) * len(shape)]
        inner[...] = counts.reshape(shape)
        for axis in range(len(shape)):
            np.cumsum(inner, axis=axis, out=inner)
        self._table = table

    def sums(self, boxes: Boxes) -> np.ndarray:
        """(k,) int64, by inclusion and exclusion over the corners."""
        axes = self._table.ndim
        total = np.zeros(len(boxes), dtype=np.int64)
        for corner in range(2**axes):
            at_lower = [bool(corner >> axis & 1) for axis in range(axes)]
            index = tuple((boxes.lower if low else boxes.upper)[:, axis] for axis, low in enumerate(at_lower))
            total += self._table[index] * (-1) ** sum(at_lower)
        return total


@dataclass(frozen=True)
class Boxes:
    """k boxes of cells: lower, upper (k, d) int64; box i holds lower_i <= cell < upper_i, at least one cell."""

    lower: Integers
    upper: Integers

    def __len__(self) -> int:
        return len(self.lower)

    @classmethod
    def covering(cls, shape: Shape) -> Boxes:
        upper = np.array([shape], dtype=np.int64)
        return cls(np.zeros_like(upper), upper)

    @property
    def widths(self) -> Integers:
        """(k, d) cells along each axis."""
        return self.upper - self.lower

    def __getitem__(self, chosen: np.ndarray) -> Boxes:
        return Boxes(self.lower[chosen], self.upper[chosen])

    def followed_by(self, other: Boxes) -> Boxes:
        return Boxes(np.vstack([self.lower, other.lower]), np.vstack([self.upper, other.upper]))

    def halved(self, axis: np.ndarray) -> Boxes:
        """Each box cut in two along its own axis ((k,) integers); the first half gets the smaller part.

        Returns the 2k halves, the two of a box in succession. The axis has at least 2 cells.
        """
        rows = np.arange(len(self))
        return self.cut(axis, (self.lower[rows, axis] + self.upper[rows, axis]) // 2)

    def cut(self, axis: np.ndarray, at: np.ndarray) -> Boxes:
        """Each box cut in two along its own axis, before its own cell `at`; both (k,) integers.

        Returns the 2k parts, the two of a box in succession. Of both there is at least one cell.
        """
        rows = np.arange(len(self))
        lower, upper = np.repeat(self.lower, 2, axis=0), np.repeat(self.upper, 2, axis=0)
        upper[2 * rows, axis] = at
        lower[2 * rows + 1, axis] = at
        return Boxes(lower, upper)

    def labels(self, shape: Shape) -> np.ndarray:
        """The partition that these boxes make of a shape: (n,) labels. Raises ValueError if they do not."""
        sizes = self.widths.prod(axis=1)
        if sizes.sum() != math.prod(shape):
            raise ValueError("the boxes must cover every cell once")
        owner = np.repeat(np.arange(len(self)), sizes)
        place = np.arange(owner.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        flat = np.zeros(owner.size, dtype=np.int64)
        stride = 1
        for axis in reversed(range(len(shape))):
            width = self.widths[owner, axis]
            flat += (self.lower[owner, axis] + place % width) * stride
            place //= width
            stride *= shape[axis]
        labels = np.full(owner.size, -1, dtype=np.int64)
        labels[flat] = owner
        if labels.min() < 0:
            raise ValueError("the boxes must cover every cell once")
        return labels
