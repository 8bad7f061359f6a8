"""A tree of interval counts with a weight for every level: a strategy, its least squares, and its weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from mechanisms.accounting import Definition
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.linear.dyadic import workload_energies
from mechanisms.sensitivity import Sensitivity

# Weights are multiples of 2^-20 of their sum, rounded down.
GRID = 2**20
# Children of a node among which the best is chosen; the top of a tree may have fewer.
BRANCHINGS = (2, 4, 8, 16, 32, 64)
# A level of less than this share of the weights is left out.
_NEGLIGIBLE = 1e-3
# Steps of the optimisation: enough to tell trees apart, and enough to finish the best one.
_ROUGH, _FINE = 15, 1000
# Cells up to which that takes a moment.
_QUICK = 512


@dataclass(frozen=True)
class Tree:
    """Weighted sums over aligned blocks of 2^e cells, for every e = 0..K.

    weights: K + 1 integers, weights[e] >= 0 for the blocks of 2^e cells, 0 where they are not measured;
        weights[0] > 0, so that every cell can be told. The cells are padded with empty ones to 2^K.
    Every cell is in one block of each level, so every column of the strategy holds the same weights.
    Source: Hay et al. 2010; unequal levels and branching: Qardaji et al. 2013.
    """

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights) < 0 or self.weights[0] == 0:
            raise ValueError("a tree needs weights >= 0, and one above 0 for single cells")

    @property
    def scales(self) -> int:
        """K."""
        return len(self.weights) - 1

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The measured exponents e, from the root down."""
        return tuple(e for e in range(self.scales, -1, -1) if self.weights[e])

    @property
    def column(self) -> Sensitivity:
        """Norms of a column: how far a row that enters or leaves moves the answers."""
        return Sensitivity(sum(self.weights), sum(w * w for w in self.weights))

    @property
    def replaced(self) -> Sensitivity:
        """Largest distance between two columns: how far a row that changes its cell moves the answers.

        Two cells share the blocks from their first common one upwards and no others: at worst they share the
        root alone. A single cell cannot be changed; the weights stand in, so that noise is drawn nonetheless.
        """
        apart = self.weights[:-1] or self.weights
        return Sensitivity(2 * sum(apart), 2 * sum(w * w for w in apart))

    @property
    def size(self) -> int:
        """Number of measured sums."""
        return sum(2 ** (self.scales - e) for e in self.levels)

    @cached_property
    def eigenvalues(self) -> tuple[float, ...]:
        """λ_e of AᵀA on V_e: Σ over measured e' <= e of weights[e']² 2^e' (see `dyadic`)."""
        return tuple(
            float(np.cumsum([w * w * 2.0**e for e, w in enumerate(self.weights)])[e])
            for e in range(self.scales + 1)
        )

    def answers(self, counts: np.ndarray) -> np.ndarray:
        """The exact weighted sums, level after level from the root down.

        counts: (n,) int64, n <= 2^K. Returns (size,) int64.
        """
        padded = np.zeros(2**self.scales, dtype=np.int64)
        padded[: counts.size] = counts
        sums = [self.weights[e] * padded.reshape(-1, 2**e).sum(axis=1) for e in self.levels]
        return np.concatenate(sums)

    def estimate(self, values: np.ndarray) -> np.ndarray:
        """The least-squares estimate of the 2^K cells from noisy answers of equal variance, O(2^K).

        Up: each block's own answer and the sum of its children's estimates, averaged by their precisions. Down:
        what a block's final estimate has more than its children's sum is divided evenly among them.
        """
        own = dict(self._split(values))
        levels = self.levels[::-1]
        up = {levels[0]: own[levels[0]]}
        variance = 1 / self.weights[levels[0]] ** 2
        for child, level in pairwise(levels):
            variance *= 2 ** (level - child)
            share = self.weights[level] ** 2 * variance / (1 + self.weights[level] ** 2 * variance)
            up[level] = share * own[level] + (1 - share) * _sums(up[child], level - child)
            variance *= 1 - share
        final = up[levels[-1]]
        for level, child in pairwise(self.levels):
            extra = (final - _sums(up[child], level - child)) / 2 ** (level - child)
            final = up[child] + np.repeat(extra, 2 ** (level - child))
        return final

    def _split(self, values: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Each level's exponent and its noisy sums, in rows."""
        start = 0
        for e in self.levels:
            stop = start + 2 ** (self.scales - e)
            yield e, values[start:stop] / self.weights[e]
            start = stop

    def cell_coefficients(self) -> Iterator[tuple[float, int]]:
        """How a cell's estimate weighs the noise: (coefficient, how many answers have it).

        The estimate is Σ h over the measured blocks times their weight, h = (AᵀA)⁻¹ e_cell. The sum of h over a
        block of 2^e depends on the scale m at which block and cell first lie in one block.
        """
        for e in self.levels:
            yield self.weights[e] * self._inverse_sum(e, e), 1
            for m in range(e + 1, self.scales + 1):
                yield self.weights[e] * self._inverse_sum(e, m), 2 ** (m - 1 - e)

    def _inverse_sum(self, e: int, m: int) -> float:
        """Sum of (AᵀA)⁻¹ e_cell over a block of 2^e whose first common block with the cell is of scale m >= e."""
        shared = [_shared(e, m, k) for k in range(self.scales + 1)]
        parts = (a - b for a, b in zip(shared, [*shared[1:], 0.0], strict=True))
        return sum(part / value for part, value in zip(parts, self.eigenvalues, strict=True))


def _shared(e: int, m: int, k: int) -> float:
    """Sum over the block of e_cell's projection on U_k."""
    if k < e:
        return 1.0 if m == e else 0.0
    return 2.0 ** (e - k) if k >= m else 0.0


def _sums(values: np.ndarray, steps: int) -> np.ndarray:
    sums: np.ndarray = values.reshape(-1, 2**steps).sum(axis=1)
    return sums


def _best_tree(purpose: str, cells: int, definition: Definition) -> Tree:
    """The tree of least mean squared error for a purpose, under Laplace (pure) or Gaussian (zCDP) noise."""
    energies = workload_energies(purpose, cells)
    if purpose == "cells":
        # A cell is best measured alone: any other level only takes from its weight.
        return Tree((1, *[0] * (len(energies) - 1)))
    return fitted_tree(energies, definition)


best_tree = Search(
    "histogram-tree",
    1,
    _best_tree,
    takes_long=lambda purpose, cells, definition: purpose != "cells" and cells > _QUICK,
    form=JsonForm(
        write_arguments=lambda purpose, cells, definition: [purpose, cells, definition.value],
        read_arguments=lambda spelled: (spelled[0], spelled[1], Definition(spelled[2])),
        write=lambda tree: list(tree.weights),
        read=lambda weights: Tree(tuple(weights)),
    ),
)


def fitted_tree(scale_energies: Sequence[float], definition: Definition) -> Tree:
    """The tree of least mean squared error for queries of the given energies at the scales 0..K (see `dyadic`).

    For every branching of the public list and every size of the root's family, the weights of the levels are
    optimised with the column's norm fixed (L1 for Laplace, L2 for Gaussian); the least error wins.
    """
    energies = np.array(scale_energies)
    top = len(energies) - 1
    order = 1 if definition is Definition.PURE else 2
    candidates = (_optimised(energies, chain, order, _ROUGH) for chain in _chains(top))
    _, chain, weights = min(candidates, key=lambda result: result[0])
    significant = weights > _NEGLIGIBLE * weights.max()
    significant[0] = True
    _, chain, weights = _optimised(energies, tuple(np.array(chain)[significant]), order, _FINE)
    return Tree(_on_grid(dict(zip(chain, weights.tolist(), strict=True)), top))


def _chains(top: int) -> list[tuple[int, ...]]:
    """The levels of every tree to choose from: exponents 0, s, 2s, ..., cut off below every possible root."""
    steps = [b.bit_length() - 1 for b in BRANCHINGS]
    chains = {tuple(range(0, last + 1, s)) for s in steps for last in range(max(0, top - 4), top + 1)}
    return sorted(chains)


def _optimised(
    energies: np.ndarray, chain: tuple[int, ...], order: int, steps: int
) -> tuple[float, tuple[int, ...], np.ndarray]:
    """Weights of least Σ energy_e / λ_e times the squared column norm; (error, chain, (levels,) weights)."""
    levels = np.arange(len(energies))
    gram = np.where(levels[:, None] >= chain, 2.0 ** np.array(chain), 0.0)

    def log_error(logs: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.exp(logs)
        values = gram @ weights**2
        loss, norm = float((energies / values).sum()), float((weights**order).sum())
        slope = -2 * weights**2 * (gram.T @ (energies / values**2)) / loss + 2 * weights**order / norm
        return math.log(loss) + 2 / order * math.log(norm), slope

    start = -0.2 * np.array(chain, dtype=float)
    result = minimize(
        log_error,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-30.0, 5.0)] * len(chain),
        options={"maxiter": steps},
    )
    return float(result.fun), chain, np.exp(result.x)


def _on_grid(weights: dict[int, float], top: int) -> tuple[int, ...]:
    return integer_weights([weights.get(e, 0.0) for e in range(top + 1)])


def integer_weights(weights: Sequence[float]) -> tuple[int, ...]:
    """Weights in proportion to the given ones as integers without a common divisor; positive ones stay so."""
    total = sum(weights)
    integers = [max(1, math.floor(w / total * GRID)) if w > 0 else 0 for w in weights]
    divisor = math.gcd(*integers)
    return tuple(w // divisor for w in integers)
