"""A strategy's one matrix as the product of a factor for each column, which larger ones are worked with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy.weights import MatrixRows


def product_of(matrix: scipy.sparse.csc_array, shape: Sequence[int]) -> Kronecker | None:
    """matrix: of whole weights, its cells in C order. shape: cells of each column. None where it is no product,
    or one whose factors no portal makes so large."""
    factors = _divided(scipy.sparse.coo_array(matrix), list(shape)) if matrix.nnz else None
    return None if factors is None else of_factors(factors)


def of_factors(factors: Sequence[scipy.sparse.sparray]) -> Kronecker | None:
    """factors: of whole weights, one for each column. None where no portal makes them so large."""
    if any(np.square(factor.data.astype(float)).sum() >= 2.0**62 for factor in factors):
        return None
    return Kronecker([MatrixRows(scipy.sparse.csr_array(factor)) for factor in factors])


def _divided(weights: scipy.sparse.coo_array, shape: list[int]) -> list[scipy.sparse.coo_array] | None:
    if weights.shape[1] != math.prod(shape):
        return None
    if len(shape) == 1:
        return [weights]
    for sums in divisors(weights.shape[0]):
        divided = _in_two(weights, sums, shape[0])
        further = divided and _divided(divided[1], shape[1:])
        if divided and further:
            return [divided[0], *further]
    return None


def _in_two(
    weights: scipy.sparse.coo_array, sums: int, cells: int
) -> tuple[scipy.sparse.coo_array, scipy.sparse.coo_array] | None:
    """A factor of so many sums and cells, without a common divisor, and all others together, in integers."""
    rows, columns = weights.coords
    others = (weights.shape[0] // sums, weights.shape[1] // cells)
    (first, second), (third, fourth) = np.divmod(rows, others[0]), np.divmod(columns, others[1])
    # Where the largest weight is, each factor has its own largest.
    top = int(weights.data.argmax())
    of_one = (second == second[top]) & (fourth == fourth[top])
    of_rest = (first == first[top]) & (third == third[top])
    if of_one.sum() * of_rest.sum() != weights.nnz:
        return None
    common = int(np.gcd.reduce(weights.data[of_one]))
    largest = int(weights.data[top]) // common
    if (weights.data[of_rest] % largest).any():
        return None
    one = scipy.sparse.coo_array(
        (weights.data[of_one] // common, (first[of_one], third[of_one])), shape=(sums, cells)
    )
    rest = scipy.sparse.coo_array(
        (weights.data[of_rest] // largest, (second[of_rest], fourth[of_rest])), shape=others
    )
    is_product = (scipy.sparse.kron(one, rest, format="csr") != scipy.sparse.csr_array(weights)).nnz == 0
    return (one, rest) if is_product else None


def divisors(number: int) -> list[int]:
    """Ascending."""
    small = [part for part in range(1, math.isqrt(number) + 1) if number % part == 0]
    return sorted({*small, *(number // part for part in small)})
