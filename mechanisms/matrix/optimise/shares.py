"""The shares of a union's parts that suit their errors once all sums are reconciled together.

With parts A_t of norm 1 and shares a_t the strategy holds X = Σ a_t² A_tᵀA_t, and the loss is N(a) tr G X⁺ with N the
squared norm of its columns, (Σ a_t)² in L1 and Σ a_t² in L2. Its derivative by a_t² is N' tr G X⁺ - N tr X⁺GX⁺ A_tᵀA_t.
What the sums span does not depend on the shares, so all is written in a basis of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.product import FewSums, Stacked
from mechanisms.matrix.workload.factor import NEGLIGIBLE
from mechanisms.matrix.workload.union import Workload

# Sums or cells up to which shares are searched for in seconds, and steps of the search.
MAX_DIMENSIONS, _STEPS = 1280, 60
# A share may become smaller or larger by so many powers of e.
_RANGE = 6.0


def best_shares(
    strategy: Stacked, workload: Workload, shares: Sequence[float], definition: Definition
) -> tuple[list[float], float]:
    """Shares of least loss, from those by which `strategy` is made on, and that loss.

    Shares as they are, and an infinite loss, if there are too many sums to tell.
    """
    if min(strategy.size, strategy.cells) > MAX_DIMENSIONS:
        return list(shares), math.inf
    own, column, pure = np.array(shares), strategy.column, definition is Definition.PURE
    own /= own.sum() if pure else np.sqrt((own**2).sum())
    scale = float(column.l1**2 if pure else column.l2_squared)
    loss = _Loss(*_reduced(strategy, workload, scale), own, pure)
    options = {"maxiter": _STEPS, "ftol": 1e-9}
    bounds = [(-_RANGE, _RANGE)] * len(shares)
    result = minimize(
        loss, np.zeros(len(shares)), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return [float(share) for share in np.array(shares) * np.exp(result.x)], math.exp(result.fun)


def _reduced(strategy: Stacked, workload: Workload, scale: float) -> tuple[list[Floats], Floats]:
    """The parts' Gram matrices over a scale, and the workload's, in a basis of what the sums span: (r, r) each.

    Of fewer cells than sums, the eigenvectors of AᵀA. Else, with A Aᵀ = U Λ Uᵀ, the rows of Λ^-½ Uᵀ A, and A is
    U Λ^½ times these.
    """
    stops = np.cumsum([part.size for part in strategy.parts])
    if _by_cells(strategy):
        matrix = strategy.matrix().toarray() / np.sqrt(scale)
        _, basis = _eigen(matrix.T @ matrix)
        return _grams(matrix @ basis, stops), basis.T @ workload.gram() @ basis
    products, requested = _products(strategy, workload)
    values, vectors = _eigen(products / scale)
    inward = vectors / np.sqrt(values)
    return _grams(vectors * np.sqrt(values), stops), inward.T @ (requested / scale) @ inward


def _by_cells(strategy: Stacked) -> bool:
    return not isinstance(strategy, FewSums) and strategy.cells < strategy.size


def _eigen(gram: Floats) -> tuple[Floats, Floats]:
    """The eigenvalues that are not rounding errors, and their vectors."""
    values, vectors = np.linalg.eigh(gram)
    significant = values > NEGLIGIBLE * values[-1]
    return values[significant], vectors[:, significant]


def _grams(sums: Floats, stops: Floats) -> list[Floats]:
    return [part.T @ part for part in np.split(sums, stops[:-1])]


def _products(strategy: Stacked, workload: Workload) -> tuple[Floats, Floats]:
    """A Aᵀ and A G Aᵀ, (p, p) each."""
    if isinstance(strategy, FewSums):
        requested = sum(term.weight**2 * strategy.cross_gram(term) for term in workload.terms)
        return strategy.products, np.asarray(requested)
    sums = strategy.matrix().astype(np.float64)
    return (sums @ sums.T).toarray(), sums @ workload.gram() @ sums.T


class _Loss:
    """The logarithm of the loss, and its gradient, as a function of the logarithms of changes of the shares."""

    def __init__(self, parts: Sequence[Floats], requested: Floats, shares: Floats, pure: bool) -> None:
        self._parts, self._requested, self._shares, self._pure = parts, requested, shares, pure

    def __call__(self, changes: Floats) -> tuple[float, Floats]:
        squares, own = np.exp(2 * changes), self._shares * np.exp(changes)
        factor = cho_factor(sum(s * part for s, part in zip(squares, self._parts, strict=True)))
        inward = cho_solve(factor, self._requested)
        trace = float(np.trace(inward))
        moved = cho_solve(factor, inward.T)
        slopes = np.array([2 * s * (moved * p).sum() for s, p in zip(squares, self._parts, strict=True)])
        norm = own.sum() ** 2 if self._pure else (own**2).sum()
        steeper = 2 * own / own.sum() if self._pure else 2 * own**2 / norm
        return float(np.log(norm * trace)), steeper - slopes / trace
