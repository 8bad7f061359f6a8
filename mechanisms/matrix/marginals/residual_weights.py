"""How strongly each residual is measured: the optimum for discrete Gaussian noise, as integer weights, and what
they cost.

For every set R of columns that a marginal table needs, the measured numbers are

    y_R = w_R (⊗_{i ∈ R} (n_i I - J)) m_R + noise,

with m_R the marginal table of R, integer weights w_R and one law for all the noise. Everything in front of the
noise is an integer.

Sensitivity, exactly. A row that enters or leaves changes m_R in one cell, and each column of n I - J has one
entry n - 1 and n - 1 entries -1: its L1 norm is 2(n - 1), its squared L2 norm n(n - 1). So y moves by Σ_R w_R Π
2(n_i - 1) in L1 and by Σ_R w_R² Π n_i(n_i - 1) in squared L2, wherever the row is. If a row moves from a cell
to one that differs from it in the columns D, then two columns of n I - J have the inner product n(n - 1) if
equal and -n if not, and the squared distance is

    2 Σ_R w_R² (Π_{i ∈ R} n_i(n_i - 1) - Π_{i ∈ R \\ D} n_i(n_i - 1) Π_{i ∈ R ∩ D} (-n_i)),

whose largest value over D is taken: by trying all D for up to 16 columns, else bounded set by set, where the
best D has a single column of R, the one with the fewest cells. The number of rows (R empty) does not change with
it. What a person moves follows from the two by `counting.unit_sensitivity`.

The optimum. y_R/(w_R Π n_i) measures the residual z_R with information κ_R = (w_R Π n_i)², and costs Σ_R κ_R
p_R in squared sensitivity; the error is Σ_R v_R/κ_R. By Cauchy's inequality the least product is (Σ_R √(v_R
p_R))², at κ_R ∝ √(v_R/p_R). It equals the bound by singular values. Rounding the weights to integers changes
the product in second order only.

Source: Xiao, He, Zhang, Kifer 2023 (ResidualPlanner), Theorem 5; with integers instead of a random rotation of
real noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.arrays import Floats
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

# The smallest weight, so that rounding costs less than 2^-16 of the error, unless large tables leave less room.
_FINEST = 2**8
# Weight times cells of a table: with 2^32 rows the numbers stay below 2^62.
_LARGEST = 2**30
# Columns for which every set of differing columns is tried.
_ENUMERATED = 16


def integer_weights(closed: MarginalSets, costs: np.ndarray, unit: PrivacyUnit) -> list[int]:
    """w_R >= 1 for each of the closed sets, near the optimum for the costs v_R.

    A row that changes its cell does not move the number of rows, so that has at least the weight that costs nothing
    beside the other sets; where it is public that is as large as can be.
    """
    strengths = (costs / closed.rests) ** 0.25
    ideal = strengths / closed.cells
    scale = min(_FINEST / ideal.min(), _LARGEST / strengths.max())
    weights: list[int] = np.maximum(1, np.rint(scale * ideal)).astype(np.int64).tolist()
    if unit.total_public:
        weights[0] = _LARGEST
    elif unit.neighbours is Neighbours.REPLACE_ONE:
        others = [0, *weights[1:]]
        free = _replaced(closed, others).l2_squared - _column(closed, others).l2_squared
        weights[0] = min(_LARGEST, max(weights[0], math.isqrt(free)))
    return weights


def information(closed: MarginalSets, weights: Sequence[int]) -> Floats:
    """(k,) κ_R = (w_R Π n_i)²."""
    known: Floats = (np.array(weights, dtype=np.float64) * closed.cells) ** 2
    return known


def residual_sensitivity(closed: MarginalSets, weights: Sequence[int], unit: PrivacyUnit) -> Sensitivity:
    """How far one person moves the measured numbers; the L2 change of a row that changes its cell is exact for up to
    16 columns, its L1 change is bounded by that of two rows."""
    return unit_sensitivity(unit, _column(closed, weights), _replaced(closed, weights))


def _column(closed: MarginalSets, weights: Sequence[int]) -> Sensitivity:
    """Norms of a column: all have the same."""
    shapes = [closed.table_shape(axes) for axes in closed.sets]
    l1 = sum(w * math.prod(2 * (n - 1) for n in shape) for w, shape in zip(weights, shapes, strict=True))
    squares = (w * w * math.prod(n * (n - 1) for n in s) for w, s in zip(weights, shapes, strict=True))
    return Sensitivity(l1, sum(squares))


def _replaced(closed: MarginalSets, weights: Sequence[int]) -> Sensitivity:
    """The largest distances of two columns; the number of rows, which comes first, is no part of them."""
    columns = sorted({i for axes in closed.sets for i in axes})
    if len(columns) <= _ENUMERATED:
        l2_squared = _farthest(closed, weights, columns)
    else:
        shapes = [closed.table_shape(axes) for axes in closed.sets[1:]]
        l2_squared = sum(map(_farthest_alone, weights[1:], shapes))
    return Sensitivity(2 * (_column(closed, weights).l1 - weights[0]), l2_squared)


def _farthest(closed: MarginalSets, weights: Sequence[int], columns: list[int]) -> int:
    """The largest squared distance of two columns, over the sets D of columns in which their cells differ.

    products[D], for D by its bits, becomes their inner product Σ_R w_R² Π_{i ∈ R \\ D} n_i(n_i - 1) Π_{i ∈ R ∩
    D} (-n_i): the transform takes one column after the other, in Python's exact integers.
    """
    bit = {column: 1 << j for j, column in enumerate(columns)}
    products = np.zeros(2 ** len(columns), dtype=object)
    for w, axes in zip(weights, closed.sets, strict=True):
        products[sum(bit[i] for i in axes)] = w * w
    for j, column in enumerate(columns):
        n = closed.shape[column]
        pairs = products.reshape(-1, 2, 2**j)
        without, within = pairs[:, 0].copy(), pairs[:, 1].copy()
        pairs[:, 0] = without + n * (n - 1) * within
        pairs[:, 1] = without - n * within
    return int(2 * (products[0] - products[1:].min()))


def _farthest_alone(weight: int, shape: tuple[int, ...]) -> int:
    """The largest squared distance that two columns can have in one set's numbers."""
    norm = math.prod(n * (n - 1) for n in shape)
    return 2 * weight * weight * (norm + norm // (min(shape) - 1))
