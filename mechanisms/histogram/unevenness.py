"""How unevenly people lie in the cells: the statistics that a private choice of method buys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.histogram.blocks import Shape

# The statistics that are in rows are multiplied by this, so that a rounded root still tells part of a row.
UNIT = 2**10
# Every column is cut into 2^j blocks.
CUTS = (2, 4, 6)
# Digits of 21 bits: the products of two, summed over at most 2^21 cells, fit 63 bits.
_DIGIT = 21


@dataclass(frozen=True)
class TableStatistic:
    """An integer about a table of counts; one row more or less changes it by at most `step`, in its own units.

    unit: how many of its units make a row.
    """

    name: str
    step: int
    unit: int


def statistics(shape: Shape) -> tuple[TableStatistic, ...]:
    """Those of tables of a shape; public. Cuts that leave single cells have no statistic: it would be 0."""
    cuts = _cuts(shape)
    return (
        TableStatistic("people", 1, 1),
        TableStatistic("filled cells", 1, 1),
        *(TableStatistic(f"bias of {2**j} blocks a column", bias_step(shape, j), UNIT) for j in cuts),
    )


def measured(counts: Integers, shape: Shape) -> list[int]:
    """The statistics of a table, exactly; counts: (cells,) int64 >= 0 in C order of the shape.

    The number of people, and the number of cells that hold anybody: a row more or less changes either by at most 1.
    And the `bias` of evenly spread blocks, by their size.
    """
    padded = _padded(counts, shape)
    return [int(counts.sum()), int(np.count_nonzero(counts)), *(bias(padded, j) for j in _cuts(shape))]


def bias(padded: Integers, j: int) -> int:
    """⌊2^10 √(mean square, over all corner sums, of how far spreading blocks evenly moves them)⌋, exactly.

    padded: counts on axes of 2^k cells, with (number of cells) · (number of rows) < 2^63. Every axis is cut into 2^j
    blocks, or into its cells if they are fewer. A corner sum counts the rows up to a cell along every axis: in one
    column it is a running total. One row changes the result by at most `bias_step`.
    """
    sizes = [max(1, width >> j) for width in padded.shape]
    volume = math.prod(sizes)
    gaps = padded * volume
    blocks = padded
    for axis, size in enumerate(sizes):
        split = (*blocks.shape[:axis], blocks.shape[axis] // size, size, *blocks.shape[axis + 1 :])
        blocks = blocks.reshape(split).sum(axis=axis + 1)
    for axis, size in enumerate(sizes):
        blocks = np.repeat(blocks, size, axis=axis)
    gaps = gaps - blocks
    for axis in range(gaps.ndim):
        gaps = np.cumsum(gaps, axis=axis)
    return math.isqrt(sum_of_squares(gaps.ravel()) * UNIT**2 // (volume**2 * padded.size))


def bias_step(shape: Shape, j: int) -> int:
    """The least integer that is surely at least 2^10 √(Σ_a L_a/w_a) and 1 for rounding; over axes a that are blocked.

    Axis a has w_a = 2^k cells in blocks of L_a >= 2. A row in one cell adds [the corner reaches the cell] - (share of
    the cell's block that the corner covers) to the corner sums' gaps. Along every axis a corner ends before the
    block, beyond it, or inside it. If it ends before it along one axis, both terms are 0; beyond it along all, both are
    1; on an axis of single cells nothing is inside. So a gap moves only at corners that end inside the block along
    some axis, and there by at most 1. Such corners are at most a share Σ_a L_a/w_a of all. The vector of gaps over
    the root of their number moves by at most the root of that share in length, and so does its length; rounded down,
    by the next integer at most.
    """
    blocked = [k for k in _bits(shape) if k > j]
    return math.isqrt(UNIT**2 * len(blocked) // 2**j) + 1


def sum_of_squares(values: Integers) -> int:
    """Σ v², exactly, of at most 2^21 values each below 2^63 in size."""
    sizes = np.abs(values)
    digits = [(sizes >> _DIGIT * k) & (2**_DIGIT - 1) for k in range(3)]
    return sum(int(a @ b) << _DIGIT * (i + j) for i, a in enumerate(digits) for j, b in enumerate(digits))


def _bits(shape: Sequence[int]) -> list[int]:
    """For each axis, the least k with 2^k cells or more."""
    return [(width - 1).bit_length() for width in shape]


def _cuts(shape: Shape) -> list[int]:
    """Those of `CUTS` that leave blocks of more than one cell."""
    return [j for j in CUTS if any(k > j for k in _bits(shape))]


def padded_size(shape: Shape) -> int:
    """How many cells there are with every axis filled up to 2^k."""
    return 1 << sum(_bits(shape))


def _padded(counts: Integers, shape: Shape) -> Integers:
    """On axes of 2^k cells, with empty cells at their ends."""
    padded = np.zeros([1 << k for k in _bits(shape)], dtype=np.int64)
    padded[tuple(slice(width) for width in shape)] = counts.reshape(shape)
    return padded
