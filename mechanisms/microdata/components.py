"""Principal components of noisy products, in whole numbers, and the grid over them that rows are counted in."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.margins import to_simplex

# Whole numbers stand for multiples of 1/UNIT.
UNIT = 2**16
FEW_COLUMNS = 5
# The grid ends so many standard deviations from the middle; rows beyond count in its outermost cells.
REACH = 3
FEWEST_STEPS, MOST_STEPS = 3, {2: 64, 3: 24}
# The least share of a column's variance that components leave over.
LEFT_OVER = 0.01


@dataclass(frozen=True)
class Components:
    """A few directions in the space of d columns, all in multiples of 1/UNIT.

    weights: (k, d) of grades; offsets: (k,) of the middle. A row's projection is weights · grades - offsets.
    loadings: (k, d) of columns in standard deviations. variances: (k,) of the projections. rest: (d,) standard
    deviation of what components leave over of each column. steps: cells of the grid in each direction.
    """

    weights: Integers
    offsets: Integers
    loadings: Integers
    variances: Integers
    rest: Integers
    steps: int

    @property
    def half_widths(self) -> Integers:
        """(k,) from the middle of the grid to its end, at least 1."""
        widths = REACH * np.sqrt(self.variances / UNIT) * UNIT
        rounded: Integers = np.maximum(1, np.rint(widths)).astype(np.int64)
        return rounded

    @property
    def cells(self) -> int:
        return int(self.steps ** len(self.offsets))

    def place(self, graded: Integers) -> Integers:
        """The grid's cell of each row, from (n, d) grades: (n,) int64, in whole numbers all through."""
        numbers = np.zeros(graded.shape[0], dtype=np.int64)
        for weights, offset, half in zip(self.weights, self.offsets, self.half_widths, strict=True):
            along = graded @ weights - offset
            step = np.clip((along + half) * self.steps // (2 * half), 0, self.steps - 1)
            numbers = numbers * self.steps + step
        return numbers

    def counts(self, noisy: Integers, variance: float, total: float) -> Floats:
        """(cells,) counts >= 0 that sum to `total`, drawn towards a normal law by as much as noise moved the grid.

        noisy: (cells,) the grid's noisy counts; variance: of each. The normal law has the components' variances.
        """
        ends = np.linspace(-REACH, REACH, self.steps + 1)[1:-1]
        below = [0.0, *(math.erfc(-end / math.sqrt(2)) / 2 for end in ends), 1.0]
        normal = np.ones(1)
        for _ in self.offsets:
            normal = np.outer(normal, np.diff(below)).ravel()
        apart = noisy - total * normal
        factor = shrinkage(apart, noisy.size * variance)
        return to_simplex(total * normal + factor * apart, total)

    def columns(self, cells: Integers, random: np.random.Generator) -> Iterator[Floats]:
        """Of d columns one by one (n,), in standard deviations, of rows in these cells.

        Rows are spread evenly in their cell; what the components leave over is added.
        """
        steps = np.unravel_index(cells, (self.steps,) * len(self.offsets))
        along = [
            (2 * (step + random.random(cells.size)) / self.steps - 1) * (half / UNIT)
            for step, half in zip(steps, self.half_widths, strict=True)
        ]
        for rest, loadings in zip(self.rest / UNIT, self.loadings.T / UNIT, strict=True):
            column: Floats = rest * random.standard_normal(cells.size)
            for loading, values in zip(loadings, along, strict=True):
                column += loading * values
            yield column

    def record(self) -> list[Integers]:
        return [self.weights, self.offsets, self.loadings, self.variances, self.rest, np.array([self.steps])]

    @classmethod
    def recorded(cls, parts: Sequence[Integers]) -> Components:
        """What `record` gave, each part read as a vector."""
        weights, offsets, loadings, variances, rest, steps = parts
        shape = (offsets.size, rest.size)
        return cls(weights.reshape(shape), offsets, loadings.reshape(shape), variances, rest, int(steps[0]))


def components(
    noisy: Integers, variance: float, graded: Sequence[Integers], counts: Sequence[Floats], deviation: float
) -> Components:
    """The two directions of largest variance, three above five columns, of d columns' correlations.

    noisy: (d(d-1)/2,) measured products. variance: of each. graded: of each column (c,) grades; counts: (c,) estimates
    >= 0 of its rows. deviation: standard error of a count in the grid. A function of noisy answers alone.
    """
    total = max(1.0, float(counts[0].sum()))
    means = np.array([float(g @ c) / total for g, c in zip(graded, counts, strict=True)])
    squares = np.array([float(g**2 @ c) / total for g, c in zip(graded, counts, strict=True)])
    spreads = np.sqrt(np.maximum(squares - means**2, 1.0))
    correlations = _correlations(noisy / total, variance / total**2, means, spreads)
    values, vectors = np.linalg.eigh(correlations)
    number = 2 if len(graded) <= FEW_COLUMNS else 3
    loadings = vectors.T[::-1][:number]
    loadings = loadings * np.sign(loadings.sum(axis=1) + 1e-12)[:, None]
    variances = np.maximum(values[::-1][:number], 1e-3)
    rest = np.sqrt(np.maximum(1 - variances @ loadings**2, LEFT_OVER))
    weights = np.rint(UNIT * loadings / spreads).astype(np.int64)
    return Components(
        weights=weights,
        offsets=np.rint(weights @ means).astype(np.int64),
        loadings=np.rint(UNIT * loadings).astype(np.int64),
        variances=np.rint(UNIT * variances).astype(np.int64),
        rest=np.rint(UNIT * rest).astype(np.int64),
        steps=_steps(total, deviation, number),
    )


def _correlations(noisy: Floats, variance: float, means: Floats, spreads: Floats) -> Floats:
    """(d, d), drawn towards 0 by as much as noise has pushed them apart (James and Stein 1961)."""
    a, b = np.array(list(combinations(range(means.size), 2))).T
    numbers = (noisy - means[a] * means[b]) / (spreads[a] * spreads[b])
    of_noise = float((variance / (spreads[a] * spreads[b]) ** 2).sum())
    matrix = np.eye(means.size)
    matrix[a, b] = matrix[b, a] = np.clip(shrinkage(numbers, of_noise) * numbers, -1, 1)
    return matrix


def shrinkage(numbers: Floats, of_noise: float) -> float:
    """The share of what was found that is kept, where noise alone would have the sum of squares `of_noise`.

    None, unless the sum of squares exceeds that by two of its standard deviations.
    """
    squares = float((numbers**2).sum())
    if squares <= of_noise * (1 + 2 * math.sqrt(2 / numbers.size)):
        return 0.0
    return 1 - of_noise / squares


def _steps(total: float, deviation: float, directions: int) -> int:
    """Cells in each direction: in two, √(0.14 n/σ), which is √(nε/10) of Qardaji et al. 2013."""
    ideal = (0.14 * total / deviation) ** (2 / (2 + directions))
    return int(np.clip(round(ideal), FEWEST_STEPS, MOST_STEPS[directions]))
