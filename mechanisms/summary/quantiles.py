"""Quantiles from noisy running totals, with intervals that hold them whatever the values are within their cells."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.moments.estimates import Interval
from mechanisms.summary.column_estimates import QUANTILES
from mechanisms.summary.rows import CellNoise


def quantiles(cells: Floats, noise: CellNoise, edges: tuple[Floats, Floats], reach: Floats) -> Interval:
    """`QUANTILES` of each row, (rows, 5): the ends of their intervals, and a point between them.

    cells: (rows, n) best estimates. noise: of these, and of a last cell that has no value. edges: the least and the
    largest value of each cell. reach: of the noise, in standard errors, (rows,), NaN where nothing is told. NaN there,
    and where a row may have nobody.

    Let C_j be the true running totals and N the last. The p-quantile lies in the cell c with C_c >= pN and
    C_(c-1) < pN. The interval begins with the least value of the first cell whose estimate of C_j - pN is at least
    minus its reach, and ends with the largest value of the cell after the last whose estimate is below its reach. If it
    begins behind c, the noise of C_c - pN is below minus its reach; if it ends before c, that of C_(c-1) - pN is above:
    each with 2.5 %, as c is a cell of the data and does not depend on the noise. So no band over all cells is needed.
    Ends are those of whole cells: where in its cell a value lies does not matter.
    """
    sums = np.cumsum(cells, axis=1)
    spread = np.cumsum(np.cumsum(noise.given[:-1, :-1], axis=0), axis=1)
    moved, last = np.cumsum(noise.gain[:-1]), spread[-1, -1]
    number = sums[:, -1:]
    known = number[:, 0] > reach * np.sqrt(noise.times * (last + moved[-1] ** 2 * noise.number))
    ends = []
    for p in QUANTILES:
        given = np.maximum(np.diag(spread) - 2 * p * spread[:, -1] + p * p * last, 0)
        with_number = given + noise.number[:, None] * (moved - p * moved[-1]) ** 2
        half = reach[:, None] * np.sqrt(noise.times[:, None] * with_number)
        above = sums - p * number
        ends.append((_first_cell(above + half >= 0), _after_last(above - half < 0)))
    low = edges[0][np.stack([first for first, _ in ends], axis=1)]
    high = edges[1][np.stack([last for _, last in ends], axis=1)]
    low, high = rising(low, high)
    low, high = (np.where(known[:, None], end, np.nan) for end in (low, high))
    return Interval((low + high) / 2, low, high)


def rising(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Ends of intervals of `QUANTILES`, (rows, 5) each, in order: intervals are made longer only."""
    return np.minimum.accumulate(lower[:, ::-1], axis=1)[:, ::-1], np.maximum.accumulate(upper, axis=1)


def _first_cell(flags: Flags) -> Integers:
    """The first cell where it holds; in the last it always does."""
    flags = flags.copy()
    flags[:, -1] = True
    first: Integers = flags.argmax(axis=1)
    return first


def _after_last(flags: Flags) -> Integers:
    """The cell after the last where it holds; 0 if nowhere."""
    flags = flags[:, :-1]
    after = flags.shape[1] - flags[:, ::-1].argmax(axis=1)
    return np.where(flags.any(axis=1), after, 0)


def points(cells: Floats, edges: tuple[Floats, Floats]) -> Floats:
    """`QUANTILES` of possible cells (>= 0), spread evenly over each, (rows, 5); NaN of a row of nobody."""
    sums = np.cumsum(cells, axis=1)
    total = sums[:, -1:]
    quantiles = []
    for p in QUANTILES:
        # A sum of floats may miss the last digit.
        cell = _first_cell(sums >= p * total * (1 - 1e-12))
        rows = np.arange(len(cells))
        inside, before = cells[rows, cell], sums[rows, cell] - cells[rows, cell]
        part = np.clip((p * total[:, 0] - before) / np.where(inside > 0, inside, 1), 0, 1)
        quantiles.append(edges[0][cell] + part * (edges[1] - edges[0])[cell])
    return np.where(total > 0, np.stack(quantiles, axis=1), np.nan)


def mean_between(lower: Floats, upper: Floats, edges: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The least and the largest mean of values whose `QUANTILES` lie between ends, (rows, 5) each; NaN where these are.

    A part of the values between two quantiles lies at the lower one at least, and at the upper one at most.
    """
    shares = np.diff((0, *QUANTILES, 1))
    first, last = edges[0][0], edges[1][-1]
    return first * shares[0] + lower @ shares[1:], upper @ shares[:-1] + last * shares[-1]


def cells_of(quantiles: Floats, edges: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The ends of the cells in which quantiles lie; NaN where these are.

    Cells of decimals touch. A quantile at such an end is of the cell that is this one value, where there is one: a
    share of the values as large as a bound's is told, and the quantile may not leave it.
    """
    last = np.clip(np.searchsorted(edges[0], quantiles, side="right") - 1, 0, None)
    first = np.minimum(np.searchsorted(edges[1], quantiles), last)
    cell, single = last, edges[0] == edges[1]
    for other in (first, np.minimum(first + 1, last)):
        cell = np.where(single[other], other, cell)
    low, high = (np.where(np.isnan(quantiles), np.nan, own[cell]) for own in edges)
    return low, high
