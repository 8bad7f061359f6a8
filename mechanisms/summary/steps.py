"""How the values of a column lie, in as many steps as its noise leaves readable."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import cut_to, with_estimate
from mechanisms.moments.ratios import Moment, quotient, ratio
from mechanisms.summary.column_estimates import Steps
from mechanisms.summary.line import LineColumn
from mechanisms.summary.possible import nearest_possible
from mechanisms.summary.rows import CellNoise
from mechanisms.tabular.equal_steps import equal_steps

# How many steps are tried, the most first: each cell by itself where they are equally wide.
TRIED = (130, 48, 24, 12, 6)
# The widest margin of a share of everybody, over the share that a step would have if all had the same.
READABLE = 1 / 2


def reported_steps(
    line: LineColumn, cells: Floats, noise: CellNoise, possible: Floats, reaches: Floats
) -> Steps:
    """Shares of steps with intervals, those of groups from the same steps.

    cells: (rows, n) as measured. noise: of these, and of a last cell that has no value. possible: (rows, n) of the
    table that quantiles and shares at bounds are of. reaches: (rows,) of the noise, NaN where nothing is told. Where
    steps are as fine as can be, shares are those of that table; else of possible steps, not of possible cells: of many
    cells next to nobody, noise above 0 would be left and noise below 0 would not.
    """
    people = possible.sum(axis=1)
    edges, parts = _steps(line, noise, people[-1], reaches[-1])
    summed, of_number = _without_missing(parts), _without_missing(np.ones((1, line.cells)))
    variances, covariances = noise.covariances(summed, summed), noise.covariances(summed, of_number)
    steps, number = cells @ parts.T, cells.sum(axis=1, keepdims=True)
    shares = ratio(
        Moment(steps, variances, covariances),
        number,
        noise.covariances(of_number, of_number),
        reaches[:, None],
    )
    is_fine = len(parts) == line.blocks[-1] + 1
    possible_shares = quotient(
        possible @ parts.T if is_fine else nearest_possible(steps, people), people[:, None]
    )
    return Steps(edges, with_estimate(possible_shares, cut_to(shares, 0, 1), 0, 1))


def _steps(line: LineColumn, noise: CellNoise, people: float, reach: float) -> tuple[Floats, Floats]:
    """The most that are readable of everybody; the fewest if none are."""
    for most in TRIED:
        edges, parts = equal_steps(line.borders, line.blocks, most)
        summed = _without_missing(parts)
        widest = reach * float(noise.covariances(summed, summed)[-1].max()) ** 0.5
        if widest <= READABLE * people / len(parts):
            break
    return edges, parts


def _without_missing(parts: Floats) -> Floats:
    """(k, n + 1) weights of cells with values, and none of the last cell, which has none. parts: (k, n)."""
    return np.pad(parts, ((0, 0), (0, 1)))
