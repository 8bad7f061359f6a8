"""How small the total error of any strategy can be: the singular value bound."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import eigvals_banded

from mechanisms.accounting import Loss, Neighbours, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.union import Workload
from mechanisms.sensitivity import Sensitivity

# Cells up to which the Gram matrix of a union, or of a column's queries, is decomposed.
MAX_CELLS = 4096


def lower_bound(workload: Workload, loss: Loss) -> float | None:
    """A total expected squared error that no integer strategy with this noise goes below, in rows²; None if unknown.

    For W = BA the error is at least v ‖B‖_F² Δ₂(A)², v the variance that the noise has where a unit's m rows move
    one integer by m: discrete noise of scale Δ/ε, divided by Δ², has its least variance where Δ is least; and ‖B‖_F
    ‖A‖_F >= ‖W‖_*, the sum of the singular values, likewise ‖W P‖_* for AP, P the projection on what sums to zero.
    `least_error` relates Δ₂ to these. The L1 norm of Laplace noise is no smaller than the L2 norm. Terms count by their
    squared weights.
    Source: Li and Miklau 2013.
    """
    return bound_from(nuclear_norm(workload), workload, loss)


def bound_from(spectrum: float | None, workload: Workload, loss: Loss) -> float | None:
    """`lower_bound`, where the nuclear norm of the workload is known."""
    if spectrum is None:
        return None
    m, n = loss.unit.max_rows, workload.cells
    law = law_for(loss, Sensitivity(m, m * m))
    if n == 1 and loss.unit.total_public:
        return None
    # ‖W P‖_* >= ‖W‖_* - ‖W(I - P)‖_*, which is the length of W 1 over √n.
    ones = math.sqrt(max(0.0, _length_of_total(workload)) / n)
    return least_error(law.variance, loss.unit, n, spectrum, max(0.0, spectrum - ones))


def least_error(variance: float, unit: PrivacyUnit, cells: int, norm: float, apart: float) -> float:
    """The least of v ‖B‖_F² Δ₂(A)² with one row a person, where ‖B‖_F ‖A‖_F >= norm and ‖B‖_F ‖A P‖_F >= apart.

    A column's squared norm is at least the mean over all, ‖A‖_F²/n; the squared distance of two is at least the mean
    over all pairs, 2 ‖A P‖_F²/(n - 1). Add-remove: the first. Replace-one: the second, which leaves out the total;
    where that is not public, both.
    """
    norms = variance * norm**2 / cells
    if unit.neighbours is Neighbours.ADD_REMOVE or cells == 1:
        return norms
    distances = variance * 2 * apart**2 / (cells - 1)
    return distances if unit.total_public else max(norms, distances)


@lru_cache(maxsize=32)
def nuclear_norm(workload: Workload) -> float | None:
    """The sum of the singular values of the weighted workload; None where there are too many cells to tell.

    Singular values of a Kronecker product are products; those of a union come from the sum of the Gram matrices.
    """
    if len(workload.terms) == 1:
        term = workload.terms[0]
        norms = [_nuclear_norm(f) for f in term.all_factors(workload.shape)]
        return None if None in norms else abs(term.weight) * math.prod(n for n in norms if n is not None)
    if workload.cells > MAX_CELLS:
        return None
    return _roots(workload.gram())


@lru_cache(maxsize=32)
def _nuclear_norm(factor: Factor) -> float | None:
    n = factor.size
    if isinstance(factor, Identity):
        return float(n)
    if isinstance(factor, Total):
        return math.sqrt(n)
    if isinstance(factor, Prefix):
        # The singular values of running totals are 1/(2 sin((2k-1)π/(4n+2))).
        return float((0.5 / np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))).sum())
    if isinstance(factor, AllRange):
        # WᵀW is n + 1 times the inverse of the second differences with both ends fixed.
        return float((math.sqrt(n + 1) / 2 / np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2))).sum())
    if isinstance(factor, Explicit):
        return _roots(factor.smaller_gram()) if min(n, factor.queries) <= MAX_CELLS else None
    if n > MAX_CELLS:
        return None
    if isinstance(factor, Width):
        # Windows that begin k cells apart have w - k cells in common.
        shared = np.arange(factor.width, max(0, factor.width - factor.queries), -1.0)
        bands = np.repeat(shared[:, None], factor.queries, axis=1)
        return _sum_of_roots(eigvals_banded(bands, lower=True, check_finite=False))
    return _roots(factor.gram())


def _roots(gram: np.ndarray) -> float:
    return _sum_of_roots(np.linalg.eigvalsh(gram))


def _sum_of_roots(values: np.ndarray) -> float:
    """values: of a Gram matrix, increasing."""
    # The root of a rounding error is no rounding error, and would lift the bound above what can be reached.
    significant = values > 4 * len(values) * np.finfo(float).eps * values[-1]
    return float(np.sqrt(values[significant]).sum())


def _length_of_total(workload: Workload) -> float:
    """‖W 1‖², weighted."""
    ones = [np.ones(n) for n in workload.shape]
    return sum(
        term.weight**2
        * math.prod(
            float((f.times(x) ** 2).sum())
            for f, x in zip(term.all_factors(workload.shape), ones, strict=True)
        )
        for term in workload.terms
    )
