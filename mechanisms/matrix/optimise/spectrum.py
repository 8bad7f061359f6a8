"""The eigenvectors of a weighted Gram matrix D^½ WᵀW D^½, by the cheapest way that the workload admits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, eigh_tridiagonal, svd

from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Prefix

# Singular values below this share of the largest are rounding errors of a Gram matrix.
_NEGLIGIBLE = 1e-6
# Cells up to which the eigenvectors of a matrix without structure take less than a minute.
MAX_UNSTRUCTURED = 2048

# From the square roots of the weights, (n,), to the singular values of W D^½, (r,), and its right singular
# vectors, (n, r).
Spectrum = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def structured(factor: Factor) -> bool:
    """Whether a spectrum takes time in n² and not in n³."""
    return isinstance(factor, (Prefix, AllRange)) and factor.size > 1


def spectrum(factor: Factor) -> Spectrum:
    """What yields the singular values and vectors of W D^½ for any weights D."""
    if structured(factor):
        return _tridiagonal(factor)
    if isinstance(factor, Explicit) and factor.queries < factor.size:
        return _wide(factor.times(np.eye(factor.size)))
    return _dense(factor.gram())


def _tridiagonal(factor: Factor) -> Spectrum:
    """Of running totals and of all ranges, whose Gram matrices have tridiagonal inverses: second differences.

    All ranges: (WᵀW)_ij = (min(i,j) + 1)(n - max(i,j)) is n + 1 times the inverse of the second differences with
    both ends fixed; running totals: W⁻¹ W⁻ᵀ with W⁻¹ the first differences.
    """
    n = factor.size
    diagonal, off_diagonal = np.full(n, 2.0), np.full(n - 1, -1.0)
    if isinstance(factor, Prefix):
        diagonal[0] = 1.0
    else:
        diagonal, off_diagonal = diagonal / (n + 1), off_diagonal / (n + 1)

    def of(roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = eigh_tridiagonal(diagonal / roots**2, off_diagonal / (roots[1:] * roots[:-1]))
        return values**-0.5, vectors

    return of


def _wide(matrix: np.ndarray) -> Spectrum:
    def of(roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, values, vectors = svd(matrix * roots, full_matrices=False, check_finite=False)
        significant = values > _NEGLIGIBLE * values[0]
        return values[significant], vectors[significant].T

    return of


def _dense(gram: np.ndarray) -> Spectrum:
    def of(roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = eigh(gram * np.outer(roots, roots), overwrite_a=True, check_finite=False)
        significant = values > _NEGLIGIBLE**2 * values[-1]
        return np.sqrt(values[significant]), vectors[:, significant]

    return of
