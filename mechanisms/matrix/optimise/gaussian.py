"""The strategy of least total squared error under Gaussian noise, with a proof of how far from the least it is.

Minimise tr(G X⁺), G = WᵀW, over X = AᵀA with diag X <= 1: a convex problem. For weights v > 0 and
S = (D_v^½ G D_v^½)^½ the Lagrangian tr(G X⁻¹) + Σ v_i (X_ii - 1) is least at X = D_v^-½ S D_v^-½, where it is
2 tr S - Σv. Scaling v to its best, (tr S)² / Σv bounds the loss of every strategy from below; at the optimum
v = diag S, which is what is iterated. Source: Denisov, McMahan, Rush, Smith, Thakurta 2022 (arXiv:2202.08312) for
the fixed point; Li and Miklau 2013 for the bound at v = 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.matrix.mechanism import SearchProgress
from mechanisms.matrix.optimise.gram import gram_diagonal
from mechanisms.matrix.optimise.spectrum import spectrum
from mechanisms.matrix.workload.factor import Factor

TOLERANCE = 1e-4
_ITERATIONS = 200
# Steps of the logarithm of v, in units of the fixed point's own, one after the other and again. The fixed point
# shrinks an error by a share between 0 and a half: the first step removes the quickest, the long ones the slowest,
# and what they add to the quickest goes with the next.
_OVER_RELAXED = (2.0, 3.0, 5.0, 9.0)
# A weight is never below this share of the largest.
_LEAST = 1e-12
_CHUNK = 256


@dataclass(frozen=True)
class GaussianOptimum:
    """A strategy, and a loss that no strategy can go below.

    strategy: (r, n) floats, columns of L2 norm at most 1. loss: ‖WA⁺‖²_F, the total squared error for noise of
    variance 1 on every row. lower_bound: of that loss, over all strategies with such columns.
    """

    strategy: np.ndarray
    loss: float
    lower_bound: float
    iterations: int

    @property
    def gap(self) -> float:
        """How far the loss may be above the least possible, relative to it."""
        return self.loss / self.lower_bound - 1


def gaussian_optimum(
    factor: Factor,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = _ITERATIONS,
    on_progress: SearchProgress | None = None,
) -> GaussianOptimum:
    """The best strategy for a workload over one column, to within a relative gap.

    Takes O(n²) an iteration for running totals and all ranges, else O(n³), or O(q²n) for q < n given queries.
    Where the iterations end first, the gap of the result is larger than the tolerance.
    Raises ValueError if the workload asks nothing.
    """
    covered = gram_diagonal(factor) > 0
    if not covered.any():
        raise ValueError("a workload that asks nothing has no strategy")
    singular = spectrum(factor)
    v, bound = covered.astype(np.float64), 0.0
    for iteration in range(1, iterations + 1):
        if on_progress:
            on_progress(iteration, None)
        values, vectors = singular(np.sqrt(v))
        diagonal = _diagonal(values, vectors)
        bound = max(bound, values.sum() ** 2 / v.sum())
        scale = _to_unit_columns(v, diagonal, full=len(values) == len(v))
        loss = _loss(factor, values, vectors, scale)
        if loss <= (1 + tolerance) * bound:
            break
        step = _OVER_RELAXED[(iteration - 1) % len(_OVER_RELAXED)]
        v = np.where(covered, v * (diagonal / np.where(covered, v, 1)) ** step, 0)
        v = np.where(covered, np.maximum(v / v.max(), _LEAST), 0)
    vectors *= np.sqrt(values)
    vectors *= scale[:, None]
    return GaussianOptimum(vectors.T, loss, bound, iteration)


def _columns(vectors: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    for first in range(0, vectors.shape[1], _CHUNK):
        place = slice(first, first + _CHUNK)
        yield place, vectors[:, place]


def _diagonal(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """diag S, (n,)."""
    return sum((part**2 @ values[place] for place, part in _columns(vectors)), np.zeros(len(vectors)))


def _to_unit_columns(v: Floats, diagonal: Floats, *, full: bool) -> Floats:
    """What to multiply S by from both sides for a feasible X, (n,): D_v^-½, and more.

    Where X has full rank, every column is brought to unit norm by itself, which leaves a gap of second order only.
    Else that would leave the workload's row space, and all columns are scaled alike.
    """
    covered = v > 0
    if full:
        return 1 / np.sqrt(diagonal)
    roots = np.sqrt(np.where(covered, v, 1))
    scale: Floats = np.where(covered, 1 / roots, 0) / np.sqrt((diagonal[covered] / v[covered]).max())
    return scale


def _loss(factor: Factor, values: np.ndarray, vectors: np.ndarray, scale: np.ndarray) -> float:
    """tr G X⁺ for X = D S D with D = diag(scale), from the eigenvectors of S: Σ uᵀ D⁻¹ G D⁻¹ u / s."""
    inverse = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)[:, None]
    total = 0.0
    for place, part in _columns(vectors):
        z = part * inverse
        total += float((np.einsum("ij,ij->j", z, factor.gram_times(z)) / values[place]).sum())
    return total
