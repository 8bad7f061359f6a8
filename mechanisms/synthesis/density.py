"""Where inside its bin a value lies: the density that the counts of the neighbouring bins suggest."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Date, Integer, Real

# Bins that are narrower than this share of their neighbours together are no place for slopes in floating point.
_NARROWEST = 2.0**-40
# Bins of no more whole numbers than this have exact means.
_FEW = 8
# Cells up to which values are moved, and the largest logarithm of a lean: then a thousandth of a bin holds its values.
MOST_LEANING, MOST_LEAN = 4_096, 8.0
_HALVINGS, _FARTHEST, _STEP = 24, 14.0, 0.25


class BinDensity:
    """The distribution function of one column: through the counts of its cells, and smooth and rising between them.

    counts: (attribute.regular_size,) people in each cell, >= 0, released or made of what was. Single values interrupt
    the curve: how many people have one says nothing about the values beside it. lean: see `toward`.

    Between two edges it is the rising quotient of two parabolas of Gregory and Delbourgo 1982, which has an inverse in
    closed form; its slopes at the edges are those of Fritsch and Butland 1984, as scipy's `PchipInterpolator` has them.
    """

    def __init__(self, attribute: Integer | Real | Date, counts: Integers, lean: float = 1.0) -> None:
        if counts.shape != (attribute.regular_size,):
            raise ValueError(f"counts must have shape {(attribute.regular_size,)}, got {counts.shape}")
        self._attribute = attribute
        self._counts = counts
        self._lean = lean

    def shares(self, cells: Integers, within: Floats) -> Floats:
        """Which share of its bin lies below each value, 0 to 1.

        cells: (m,) regular cells. within: (m,) which share of the bin's people lies below each, 0 to 1: uniform draws
        give draws from the density.
        """
        if self._lean != 1:
            within = within / (within + self._lean * (1 - within))
        left, right = self._slopes[:, cells]
        excess = within * (left + right - 2)
        linear = left - excess
        below = linear + np.sqrt(np.maximum(linear**2 + 4 * (1 - left + excess) * within, 0))
        shares: Floats = np.divide(2 * within, below, out=within.copy(), where=below > 0)
        return np.clip(shares, 0, 1)

    def means(self) -> Floats:
        """(cells,) the mean value in each cell, of draws that do not lean; of dates in days, 1 in year 1.

        The integral of the curve, which is smooth, by five points of Gauss's rule. Whole numbers and days are rounded
        down: in a bin of c of them the mean is Σ (1 - F(k/c)), k = 1 … c - 1, and of many half of one below the rest.
        """
        line = cell_line(self._attribute).astype(float)
        nodes, weights = np.polynomial.legendre.leggauss(5)
        above = sum(w / 2 * (1 - self._below((t + 1) / 2)) for t, w in zip(nodes, weights, strict=True))
        if isinstance(self._attribute, Real):
            reals: Floats = line[:-1] + np.diff(line) * above
            return reals
        held = np.diff(line)
        few = sum(np.where(k < held, 1 - self._below(np.minimum(k / held, 1)), 0) for k in range(1, _FEW))
        means: Floats = line[:-1] + np.where(held <= _FEW, few, held * above - 1 / 2)
        return means

    def toward(self, mean: float) -> BinDensity:
        """The density whose values have this mean, all moved alike inside their cells; as near to it as can be.

        A value with the share u of its cell's people below it takes the place of u / (u + k(1 - u)), k the lean: the
        odds of that share are divided by k. No value leaves its cell, so counts stay as they are.
        """
        if self._counts.size > MOST_LEANING or not self._counts.any():
            return self
        low, high = -MOST_LEAN, MOST_LEAN
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._mean(middle) > mean else (low, middle)
        # Few digits: the last ones of sums and exponentials differ between processors.
        return BinDensity(self._attribute, self._counts, float(f"{math.exp((low + high) / 2):.6g}"))

    def _mean(self, log_lean: float) -> float:
        """Of all values, with this logarithm of the lean: by equal steps of the logit of u, which the lean shifts."""
        line = cell_line(self._attribute).astype(float)
        held, every = np.diff(line), np.arange(self._counts.size)
        total = 0.0
        for logit in np.arange(-_FARTHEST, _FARTHEST, _STEP):
            weight = _STEP / (2 + 2 * math.cosh(logit))
            share = self.shares(every, np.full(every.size, 1 / (1 + math.exp(log_lean - logit))))
            place = share * held
            if not isinstance(self._attribute, Real):
                place = np.minimum(np.floor(place), held - 1)
            total += weight * float(self._counts @ (line[:-1] + place))
        return total / float(self._counts.sum())

    def _below(self, share: float | Floats) -> Floats:
        """(cells,) which share of each bin's people lies below a share of the bin."""
        left, right = self._slopes
        inside = share * (1 - share)
        below: Floats = (share**2 + left * inside) / (1 + (left + right - 2) * inside)
        return below

    @cached_property
    def _slopes(self) -> Floats:
        """(2, cells): the curve's slopes at each cell's ends, in units of the cell's own mean density."""
        slopes = np.ones((2, self._counts.size))
        line = cell_line(self._attribute)
        for first, stop in self._runs():
            edges = (line[first : stop + 1] - line[first]) / float(line[stop] - line[first])
            if np.diff(edges).min() < _NARROWEST:
                continue
            people = self._counts[first:stop].astype(float)
            at_edges = PchipInterpolator(edges, np.append(0, np.cumsum(people))).derivative()(edges)
            mean = people / np.diff(edges)
            for side, neighbour in enumerate((at_edges[:-1], at_edges[1:])):
                np.divide(neighbour, mean, out=slopes[side, first:stop], where=mean > 0)
        return slopes

    def _runs(self) -> list[tuple[int, int]]:
        """First cells, and those behind the last, of two neighbours or more between which no single value lies."""
        singles = () if isinstance(self._attribute, Date) else self._attribute.single_cells
        ends = [-1, *singles, self._counts.size]
        return [(before + 1, after) for before, after in pairwise(ends) if after - before > 2]


def cell_line(attribute: Integer | Real | Date) -> Integers | Floats:
    """(cells + 1,) where each begins, and the last one ends: whole numbers and days reach to the next one."""
    if isinstance(attribute, Real):
        return np.array(attribute.all_edges)
    if isinstance(attribute, Integer):
        return np.array([*attribute.starts, attribute.upper + 1], dtype=np.int64)
    starts = (attribute.bounds(cell)[0].toordinal() for cell in range(attribute.regular_size))
    return np.array([*starts, attribute.upper.toordinal() + 1], dtype=np.int64)
