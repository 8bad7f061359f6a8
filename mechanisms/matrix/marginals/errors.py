"""Expected errors of marginal tables that are put together from residuals, without data.

The cells of a domain split into orthogonal spaces, one for each set R of columns: what varies with exactly those
columns. With P = I - J/n for a column of n cells, the residual of R is z_R = (P for each column of R) applied
to R's marginal table, and the marginal table of A is the sum over R ⊆ A of z_R, divided by the cells of the
columns in A \\ R and repeated along them. A mechanism that measures every residual with information κ_R, so
that z_R has covariance σ²/κ_R (P ⊗ ... ⊗ P) and different residuals are uncorrelated, gives a cell of A the
variance

    σ² Σ_{R ⊆ A} p_R / (κ_R Π_{i ∈ A \\ R} n_i²),    p_R = Π_{i ∈ R} (n_i - 1)/n_i.

Source: Xiao, He, Zhang, Kifer 2023 (ResidualPlanner), Theorems 4 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mechanisms.accounting import Loss, Neighbours
from mechanisms.arrays import Floats
from mechanisms.calibration import law_for
from mechanisms.matrix.marginals.sets import Axes, Batch, MarginalSets
from mechanisms.sensitivity import Sensitivity


def residual_costs(closed: MarginalSets, requested: Mapping[Axes, float]) -> Floats:
    """(k,) v_R: the total squared error of the asked tables is σ² Σ_R v_R/κ_R.

    closed: the asked sets with all their subsets. requested: weight² by set.
    """
    costs = np.zeros(len(closed.sets))
    tables = MarginalSets.of(closed.shape, requested)
    for batch in tables.batches():
        weights = np.array([requested[s] for s in tables.sets[batch.first : batch.last]])
        for own_axes, places in tables.places(batch, closed):
            np.add.at(costs, places, weights * batch.cells * _share(batch, own_axes))
    of_sets: Floats = costs * closed.rests
    return of_sets


def cell_variances(closed: MarginalSets, tables: MarginalSets, information: np.ndarray) -> np.ndarray:
    """(t,) variance of one cell of each table, with noise of variance 1.

    information: (k,) κ_R of the closed sets.
    """
    residual = closed.rests / information
    variances = np.zeros(len(tables.sets))
    for batch in tables.batches():
        for own_axes, places in tables.places(batch, closed):
            variances[batch.first : batch.last] += residual[places] * _share(batch, own_axes)
    return variances


def _share(batch: Batch, own_axes: Axes) -> float:
    return 1 / math.prod(n * n for j, n in enumerate(batch.shape) if j not in own_axes)


def lower_bound(closed: MarginalSets, costs: np.ndarray, loss: Loss, domain_size: int) -> float:
    """A total squared error that no strategy with this noise goes below: the bound by singular values.

    With λ_R the eigenvalue of a strategy's Gram matrix on R's space, the total error is Δ² times a sum of
    c_R/λ_R. A column's squared norm is at least the mean over all of the n columns; the squared distance of two
    columns is at least the mean over all pairs, 2/(n-1) times the trace off the constant vector. Cauchy's
    inequality then gives (Σ_R √(v_R p_R))², and for replaced rows 2n/(n-1) times its square without the total.
    Where the number of rows is not public, both hold. L1 norms are no smaller than L2 norms.
    Source: Li and Miklau 2013.
    """
    roots = np.sqrt(costs * closed.rests)
    m = loss.unit.max_rows
    law = law_for(loss, Sensitivity(m, m * m))
    norms = law.variance * float(roots.sum()) ** 2
    if loss.unit.neighbours is Neighbours.ADD_REMOVE:
        return norms
    # The empty set, which comes first, is the number of rows.
    distances = law.variance * 2 * (1 + 1 / (domain_size - 1)) * float(roots[1:].sum()) ** 2
    return distances if loss.unit.total_public else max(norms, distances)
