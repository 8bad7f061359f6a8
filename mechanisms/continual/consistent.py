"""Post-processing that makes a released running count one that could have been: nowhere below zero, never falling."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from mechanisms.arrays import Floats

# Variances below this share of the largest count as this.
_LEAST = 1e-12


def never_falling(released: Floats, variances: Floats) -> Floats:
    """The non-negative, never falling series nearest to a released one, in weighted least squares.

    released: (T,) running counts, T >= 1. variances: (T,) of their noise, >= 0; the weights are their inverses.
    Noise that is as good as none has the variance 0 in floats: such counts keep their places.
    Returns (T,) floats. O(T): pool adjacent violators, then cut off at zero, which is the exact solution with both
    constraints (Barlow et al. 1972). It uses released numbers only, so it costs nothing.
    Raises ValueError if the shapes differ or a variance is negative.
    """
    if released.shape != variances.shape or released.ndim != 1 or released.size == 0:
        raise ValueError(f"needs two arrays of one shape (T,), got {released.shape} and {variances.shape}")
    if not (variances >= 0).all():
        raise ValueError("variances must not be negative")
    least = _LEAST * float(variances.max()) or 1.0
    fitted = isotonic_regression(released.astype(np.float64), weights=1 / np.maximum(variances, least))
    counts: Floats = np.maximum(fitted.x, 0.0)
    return counts
