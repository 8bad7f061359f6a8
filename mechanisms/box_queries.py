"""Boxes of cells, some of every column: what readers add up after a release, which costs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Flags, Integers

# Of every column of a domain the places that are added up, rising, each once.
Picks = Sequence[Integers]


@dataclass(frozen=True)
class CellSum:
    """The estimates of some cells added up, in rows.

    half_width: so that estimate ± half_width holds the true sum with probability at least 0.95; None where the
    error depends on the data, so that none can be stated. cells: how many numbers with noise were added; None where
    synthetic rows were counted instead. ends: of the same interval, where its sides differ.
    """

    estimate: float
    half_width: float | None
    cells: int | None
    ends: tuple[float, float] | None = None

    @property
    def rounded(self) -> CellSum:
        """The same in whole rows, with a margin that holds the truth as this one does."""
        near = round(self.estimate)
        half = None if self.half_width is None else math.ceil(self.half_width + abs(self.estimate - near))
        ends = self.ends and (math.floor(self.ends[0]), math.ceil(self.ends[1]))
        return CellSum(near, half, self.cells, ends)


def narrowed(shape: Sequence[int], picks: Picks) -> tuple[int, ...]:
    """The columns of which some cells are left out."""
    return tuple(j for j, places in enumerate(picks) if len(places) < shape[j])


def size(picks: Picks) -> int:
    """How many cells the box has."""
    return math.prod(len(places) for places in picks)


def size_of_both(shape: Sequence[int], first: Picks, second: Picks) -> int:
    """How many cells two boxes have in common. In time linear in the columns' cells: a page waits for it."""
    common = 1
    for cells, one, other in zip(shape, first, second, strict=True):
        inside = flags((cells,), (one,))
        common *= int(np.count_nonzero(inside[other]))
    return common


def summed(values: np.ndarray, shape: Sequence[int], picks: Picks) -> float:
    """The sum of the values in the box. values: (n,) in C order, n = the product of the shape."""
    box = values.reshape(tuple(shape))
    for axis, places in enumerate(picks):
        box = box[(slice(None),) * axis + (_as_slice(places),)]
    # Whole numbers as whole numbers: of 10^8 cells a copy as floats would take 0.8 GB.
    return float(box.sum())


def flags(shape: Sequence[int], picks: Picks) -> Flags:
    """(n,) whether each cell is in the box."""
    inside = np.zeros(tuple(shape), dtype=bool)
    inside[np.ix_(*picks)] = True
    return inside.ravel()


def _as_slice(places: Integers) -> Integers | slice:
    """Neighbouring places as a slice, which needs no copy."""
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
