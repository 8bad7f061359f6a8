"""Strategies on an integer grid: what meets noise is a matrix of integers with exact column norms."""

from __future__ import annotations

import math

import numpy as np

# Bits of the grid of a single matrix, of each of two factors of a product, and of more factors together. With fewer,
# accuracy would be lost; with more, the noise of a usual loss would not fit the sampler.
BITS, PAIR_BITS, PRODUCT_BITS = 20, 16, 36


def bits_for(gridded: int) -> int:
    """Bits of the grid of each of so many factors of a product that hold weights other than integers."""
    if gridded < 2:
        return BITS
    return PAIR_BITS if gridded == 2 else PRODUCT_BITS // gridded


def on_grid(weights: np.ndarray, bits: int = BITS) -> np.ndarray:
    """Weights as integers: multiples of 2^-bits of the largest L2 norm of a column, rounded towards zero.

    weights: (p, n) finite floats. Returns (p, n) int64 without a common divisor; a matrix of small integers is
    kept as it is, up to that divisor. Rounding towards zero never raises a column norm, and the norms that are paid
    for are those of the integers, so rounding costs no privacy; it changes the strategy by 2^-bits, and least squares
    with the changed strategy lose the square of that where the strategy is near its best.
    Raises ValueError if a weight is not finite, or all are 0.
    """
    if not np.isfinite(weights).all():
        raise ValueError("a strategy's weights must be finite")
    largest = float(np.abs(weights).sum(axis=0).max(initial=0.0))
    if largest == 0:
        raise ValueError("a strategy needs a weight that is not 0")
    exact = np.array_equal(weights, np.rint(weights)) and largest < 2**bits
    integers = np.trunc(weights if exact else weights / _norm(weights) * 2.0**bits).astype(np.int64)
    divisor = math.gcd(*np.unique(np.abs(integers)).tolist())
    if divisor == 0:
        raise ValueError("a strategy's weights are too uneven for the grid")
    return integers // divisor


def _norm(weights: np.ndarray) -> float:
    """The largest L2 norm of a column."""
    return float(np.sqrt((weights**2).sum(axis=0).max()))
