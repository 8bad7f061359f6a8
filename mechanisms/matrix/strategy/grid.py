"""Strategies on an integer grid: what meets noise is a matrix of integers with exact column norms."""

from __future__ import annotations

import math

import numpy as np

from mechanisms.accounting import Definition

# Bits of the grid of a single matrix, and of the factors of a product together. With fewer, accuracy would be lost;
# with more, the noise of a usual loss would not fit the sampler, nor the sums of 10^9 rows 64 bits.
BITS, PRODUCT_BITS = 20, 32
# The same for the parts of a union.
UNION_BITS = (16, 24)
# Decimal places up to which numbers are kept as they are.
_PLACES = 6
# The least weight of single cells beside a strategy of lower rank, as a share of a column's norm: it costs an error of
# twice the share (L1) or of its square (L2).
_LEAST_CELLS = {Definition.PURE: 2.0**-12, Definition.ZCDP: 2.0**-8}
# Their least weight as a share of the norm of the largest part of a union.
_LEAST_CELL_WEIGHT = 2.0**-14
# Differences below this share of a number are rounding errors.
_SLIGHT = 1e-13


def bits_for(gridded: int, union: bool = False) -> int:
    """Bits of the grid of each of so many factors of a product that hold weights other than integers.

    union: whether the product is part of one, where multiples need bits too.
    """
    return (
        min(*UNION_BITS, UNION_BITS[1] // max(1, gridded))
        if union
        else min(BITS, PRODUCT_BITS // max(1, gridded))
    )


def on_grid(weights: np.ndarray, bits: int = BITS, definition: Definition = Definition.ZCDP) -> np.ndarray:
    """Weights as integers: multiples of 2^-bits of the largest L2 norm of a column.

    weights: (p, n) finite floats. Returns (p, n) int64 without a common divisor; small integers, decimal fractions and
    small multiples of the least weight are kept as they are, up to that divisor. What is paid for are the norms of the
    integers, so rounding costs no privacy. Every weight goes to one of the two integers beside it, and to the one that
    keeps its column's norm, up to there, nearest to the weights' (L1 for pure ε, L2 for zCDP): columns of equal norm
    stay so, as the largest is paid for, and what is left of the loss of accuracy is the square of 2^-bits where the
    strategy is near its best.
    Raises ValueError if a weight is not finite, or all are 0.
    """
    if not np.isfinite(weights).all():
        raise ValueError("a strategy's weights must be finite")
    if not weights.any():
        raise ValueError("a strategy needs a weight that is not 0")
    exact = exact_on_grid(weights, bits)
    integers = _rounded(weights / _norm(weights) * 2.0**bits, definition) if exact is None else exact
    divisor = _divisor(integers)
    if divisor == 0:
        raise ValueError("a strategy's weights are too uneven for the grid")
    return integers if divisor == 1 else integers // divisor


def _divisor(integers: np.ndarray) -> int:
    divisor = 0
    for row in integers:
        divisor = math.gcd(divisor, int(np.gcd.reduce(row)))
        if divisor == 1:
            break
    return divisor


def tied(integers: np.ndarray, missing: int, definition: Definition, lightness: float = 1.0) -> np.ndarray:
    """A strategy of rank below the number of cells with every single cell besides, so that it answers everything.

    Rounding moves the row space of such a strategy, which would then not answer its workload exactly. integers: (p, n)
    int64. missing: of the rank. With cells of weight c beside columns of norm N, errors grow by 2c/N (L1) or c²/N²
    (L2) for the norm, and by about `missing`/12c² for what rounding, of variance 1/12, has moved: c makes the sum
    least, but is no smaller a share of N than floats can tell apart from nothing in AᵀA. lightness: of a part of a
    union, how many times its norm the largest part's is: beside that part, too, its cells must be more than nothing.
    """
    moved, least = missing / 12, max(_LEAST_CELLS[definition], min(1.0, lightness * _LEAST_CELL_WEIGHT))
    if definition is Definition.PURE:
        norm = float(np.abs(integers).sum(axis=0).max())
        weight = max((moved * norm) ** (1 / 3), least * norm)
    else:
        norm = _norm(integers.astype(np.float64))
        weight = max((moved * norm**2) ** (1 / 4), least * norm)
    return np.vstack([integers, max(1, round(weight)) * np.eye(integers.shape[1], dtype=np.int64)])


def exact_on_grid(weights: np.ndarray, bits: int) -> np.ndarray | None:
    """A multiple of the weights that holds integers below 2^bits alone, (p, n) int64; None if there is none."""
    sizes = np.abs(weights)
    largest, least = float(sizes.sum(axis=0).max()), float(sizes[sizes > 0].min())
    for unit in (*(10.0**-place for place in range(_PLACES + 1)), least):
        # One row tells most matrices that do not fit.
        if largest < unit * 2.0**bits and _are_integers(weights[:1] / unit) and _are_integers(weights / unit):
            return np.rint(weights / unit).astype(np.int64)
    return None


def _are_integers(numbers: np.ndarray) -> bool:
    nearest = np.rint(numbers)
    return bool((np.abs(numbers - nearest) <= _SLIGHT * np.abs(nearest)).all())


def _rounded(weights: np.ndarray, definition: Definition) -> np.ndarray:
    """(p, n) integers; the longest rows come first, so that the last choices even out what is left."""
    integers = np.empty(weights.shape, dtype=np.int64)
    ahead = np.zeros(weights.shape[1])
    for i in np.argsort(-(weights**2).sum(axis=1), kind="stable"):
        size = np.abs(weights[i])
        low = np.floor(size)
        part = size - low
        # From the norm of the weights to that of either integer: its first power or its square.
        down, step = (-part, 1.0) if definition is Definition.PURE else (-part * (size + low), 2 * low + 1)
        below = ahead + down
        up = (np.abs(below + step) < np.abs(below)) & (part > 0)
        ahead = below + step * up
        integers[i] = np.copysign(low + up, weights[i])
    return integers


def _norm(weights: np.ndarray) -> float:
    """The largest L2 norm of a column."""
    return float(np.sqrt((weights**2).sum(axis=0).max()))
