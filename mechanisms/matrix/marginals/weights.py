"""Weights of marginal tables that are counted with Laplace noise, for the least total error of the tables asked
for.

The tables S of up to 16 columns are counted w_S times each. Their Gram matrices commute: on the residuals of R
the strategy holds the information

    κ_R = Σ_{S ⊇ R} w_S² / Π_{i ∈ S \\ R} n_i,

every cell lies in one cell of each table, so a row that enters or leaves moves the counts by Σ_S w_S, and the
total error is 2 (Σ_S w_S)²/ε² times Σ_R v_R/κ_R. It is minimised over all 2^d sets with w >= 0 by L-BFGS-B from
several starts; the sum over supersets takes one column after the other, so a step costs O(d 2^d).
Source: McKenna, Miklau, Hay, Machanavajjhala 2018 (HDMM), Section 6.3 (OPT_M).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from mechanisms.arrays import Floats, Integers
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.noise import repeatable

MAX_COLUMNS = 16
# Tables that are counted have at most so many cells, and weights are multiples of this share of their sum.
_MAX_CELLS, GRID = 2**20, 2**20
# Random starts of each kind, and steps from each.
_ROUNDS, _STEPS = 12, 500
# Mergers of two tables that are tried in all, and the share of the loss that one must gain. A table is used from this
# weight on, of a sum of 1; a descent begins with a little of every table.
_TRIES, _GAIN, _USED, _LITTLE = 100, 1e-6, 1e-4, 0.01


@dataclass(frozen=True)
class Lattice:
    """All sets of some columns, by their bits; sizes: cells of each column."""

    sizes: tuple[int, ...]

    @property
    def count(self) -> int:
        return 1 << len(self.sizes)

    def information(self, squares: np.ndarray) -> np.ndarray:
        """κ from w²: (2^d,) to (2^d,), each set's sum over its supersets."""
        return self._summed(squares, 0)

    def transposed(self, gains: np.ndarray) -> np.ndarray:
        """The transpose of `information`: each set's sum over its subsets."""
        return self._summed(gains, 1)

    def _summed(self, values: np.ndarray, to: int) -> np.ndarray:
        """to: whether sets without (0) or with (1) a column get what those with or without it have."""
        sums = values.copy()
        for j, n in enumerate(self.sizes):
            pairs = sums.reshape(-1, 2, 2**j)
            pairs[:, to] += pairs[:, 1 - to] / n
        return sums

    def cells(self) -> np.ndarray:
        """Cells of every set's table, (2^d,) floats."""
        cells = np.ones(1)
        for n in self.sizes:
            cells = np.concatenate([cells, cells * n])
        return cells


def loss_and_gradient(lattice: Lattice, costs: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """(Σ w)² Σ_R v_R/κ_R, and its gradient in w. costs: v_R of every set, 0 where nothing needs it."""
    needed = costs > 0
    kappa = lattice.information(weights**2)
    ratio, slope = np.zeros_like(kappa), np.zeros_like(kappa)
    ratio[needed] = costs[needed] / kappa[needed]
    slope[needed] = -ratio[needed] / kappa[needed]
    total, norm = float(ratio.sum()), float(weights.sum())
    gradient = 2 * norm * total + norm**2 * lattice.transposed(slope) * 2 * weights
    return norm**2 * total, gradient


def best_weights(
    lattice: Lattice, costs: np.ndarray, on_progress: Callable[[int, int | None], None]
) -> tuple[np.ndarray, float]:
    """(2^d,) weights of the least loss that was found, with sum 1, and that loss; the same every time."""
    counted = lattice.cells() <= _MAX_CELLS
    starts = _starts(lattice, costs, counted)
    best, least = starts[0], math.inf
    for step, start in enumerate(starts):
        on_progress(step, len(starts))
        candidate = _descend(lattice, costs, start, counted)
        loss = loss_and_gradient(lattice, costs, candidate)[0]
        if loss < least:
            best, least = candidate, loss
    best, least = _merged(lattice, costs, counted, best, least)
    on_progress(len(starts), len(starts))
    return best, least


def _merged(
    lattice: Lattice, costs: np.ndarray, counted: np.ndarray, best: np.ndarray, least: float
) -> tuple[np.ndarray, float]:
    """Weights from which to count one table rather than two, that of all their columns, gains no more.

    A descent seldom finds that by itself, as a little of the larger table gains nothing.
    """
    tries, sizes = _TRIES, lattice.cells()
    pairs = _pairs(best, sizes, counted)
    while pairs and tries:
        one, two = pairs.pop(0)
        tries -= 1
        start = best.copy()
        start[one | two] += start[one] + start[two]
        start[[one, two]] = 0
        candidate = _descend(lattice, costs, start + _LITTLE * counted / counted.sum(), counted)
        loss = loss_and_gradient(lattice, costs, candidate)[0]
        if loss < (1 - _GAIN) * least:
            best, least = candidate, loss
            pairs = _pairs(best, sizes, counted)
    return best, least


def _pairs(weights: np.ndarray, sizes: np.ndarray, counted: np.ndarray) -> list[tuple[int, int]]:
    """Counted tables to merge, those first whose common table is no larger than they are."""
    used = np.flatnonzero(weights > _USED).tolist()
    pairs = [(a, b) for a, b in combinations(used, 2) if counted[a | b] and a | b not in (a, b)]
    return sorted(pairs, key=lambda pair: float(sizes[pair[0] | pair[1]] / (sizes[pair[0]] + sizes[pair[1]])))


def _descend(lattice: Lattice, costs: np.ndarray, start: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Weights by L-BFGS-B on the logarithm of the loss, from a start that is positive wherever a table may be
    counted."""
    places = np.flatnonzero(counted)

    def logarithm(inner: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.zeros(lattice.count)
        weights[places] = inner
        loss, gradient = loss_and_gradient(lattice, costs, weights)
        return math.log(loss), gradient[places] / loss

    # Away from zero, where the loss is not defined; a weight that small is dropped by the grid.
    bounds = [(1e-9, None)] * places.size
    result = minimize(
        logarithm, start[places], jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}
    )
    weights = np.zeros(lattice.count)
    weights[places] = result.x / result.x.sum()
    return weights


def _starts(lattice: Lattice, costs: np.ndarray, counted: np.ndarray) -> list[np.ndarray]:
    """Where to descend from: the loss has many local minima, and different starts suit different workloads.

    The tables that are needed, by their cost; and at random, though the same every time: those tables, all
    tables with a preference for small or large ones, a few of all tables.
    """
    random = repeatable(sha256(repr(lattice.sizes).encode() + costs.tobytes()).digest())
    cells = np.minimum(lattice.cells(), _MAX_CELLS)
    needed = np.cbrt(costs) * counted
    starts = [needed]
    for _ in range(_ROUNDS):
        starts.append(needed * random.random(lattice.count))
        starts.append(counted * random.random(lattice.count) * cells ** random.uniform(-0.5, 0.5))
        starts.append(counted * random.random(lattice.count) ** 4)
    # A little of every table, since a weight of zero could only stay there.
    return [start / start.sum() + 0.05 * counted / counted.sum() for start in starts]


def on_grid(weights: Floats) -> Integers:
    """(2^d,) int64 without a common divisor: weights as multiples of 2^-20 of their sum, rounded down."""
    integers = np.floor(weights / weights.sum() * GRID).astype(np.int64)
    coprime: Integers = integers // math.gcd(*np.unique(integers).tolist())
    return coprime


def lattice_of(closed: MarginalSets, costs: np.ndarray) -> tuple[Lattice, tuple[int, ...], np.ndarray]:
    """The lattice of the columns that the closed sets use, those columns, and v_R of every set of them."""
    columns = tuple(sorted({i for axes in closed.sets for i in axes}))
    lattice = Lattice(tuple(closed.shape[i] for i in columns))
    spread = np.zeros(lattice.count)
    bit = {column: 1 << j for j, column in enumerate(columns)}
    spread[[sum(bit[i] for i in axes) for axes in closed.sets]] = costs
    return lattice, columns, spread
