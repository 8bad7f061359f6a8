"""Estimates made into those of possible tables: no cell below 0, sums and means kept."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.microdata.margins import to_simplex

# Bisections of the tilt, to the last digits of a float; and how far it goes, in ranges of the column.
_HALVINGS = 60
_STEEPEST = 500.0
# By so much sums of floats may miss a whole number.
_NEARLY = 1e-9


def nearest_possible(cells: Floats, totals: Floats) -> Floats:
    """The nearest cells that are not negative and add up to given totals.

    cells: (rows, cells). totals: (rows,) >= 0.
    """
    pairs = zip(cells, totals, strict=True)
    return np.array([to_simplex(row, total) if total > 0 else np.zeros_like(row) for row, total in pairs])


def integer_cells(cells: Floats, totals: Floats) -> Floats:
    """The nearest whole numbers that add up to whole totals: of a row those of the largest fractions are rounded up.

    cells: (rows, cells) >= 0, which add up to `totals`, (rows,).
    """
    integers = np.floor(cells + _NEARLY)
    left = np.rint(totals - integers.sum(axis=1))
    rank = np.argsort(np.argsort(integers - cells, axis=1, kind="stable"), axis=1)
    raised: Floats = integers + (rank < left[:, None])
    return raised


def tilted(cells: Floats, places: tuple[Floats, Floats], means: Floats) -> Floats:
    """Cells that could have given means, from ones that could not: those of least divergence, which keep their sums.

    cells: (rows, n) >= 0. places: the least and the largest value of each cell, (n,) each, in units of about the range.
    means: (rows,) likewise. A row's values can have a mean between those of its cells' ends. Where the mean is beyond
    one, each cell is multiplied by exp(θ · that end), θ so that it is reached, as far as cells above 0 can.
    """
    result = cells.copy()
    for ends, side in zip(places, (1, -1), strict=True):
        wrong = (side * (result @ ends - means * result.sum(axis=1)) > 0) & (result.sum(axis=1) > 0)
        if wrong.any():
            result[wrong] = _tilted(result[wrong], ends, means[wrong])
    return result


def _tilted(cells: Floats, ends: Floats, means: Floats) -> Floats:
    totals = cells.sum(axis=1, keepdims=True)
    low, high = np.full(len(cells), -_STEEPEST), np.full(len(cells), _STEEPEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        moved = _weighted(cells, ends, middle, totals)
        above = moved @ ends > means * totals[:, 0]
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return _weighted(cells, ends, (low + high) / 2, totals)


def _weighted(cells: Floats, ends: Floats, tilt: Floats, totals: Floats) -> Floats:
    exponents = tilt[:, None] * ends
    weighted = cells * np.exp(exponents - exponents.max(axis=1, keepdims=True))
    sums = weighted.sum(axis=1, keepdims=True)
    moved: Floats = np.where(sums > 0, weighted / np.where(sums > 0, sums, 1) * totals, cells)
    return moved
