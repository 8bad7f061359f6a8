"""Matrices of windows against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.matrix.optimise.windows import Window, Windows

WINDOWS = Windows(7, (Window(0, 1, 0, 7), Window(1, 3, 2, 5), Window(3, 4, 4, 7)))
RANDOM = np.random.default_rng(5)
VALUES = RANDOM.random(WINDOWS.size)
MASK = WINDOWS.matrix(np.ones(WINDOWS.size))
DENSE = WINDOWS.matrix(VALUES)


def test_values_and_matrix_are_two_forms_of_one() -> None:
    assert (WINDOWS.rows, WINDOWS.size) == (4, 7 + 6 + 3)
    assert WINDOWS.values(DENSE) == pytest.approx(VALUES)
    assert MASK.sum() == WINDOWS.size


def test_products_are_the_dense_ones() -> None:
    other, tall, square = RANDOM.random((3, 7)), RANDOM.random((7, 4)), RANDOM.random((4, 4))
    assert WINDOWS.times_transposed(other, VALUES) == pytest.approx(other @ DENSE.T)
    assert WINDOWS.matrix(WINDOWS.products(tall, square)) == pytest.approx((tall @ square).T * MASK)


def test_sums_and_spreads_are_the_dense_ones() -> None:
    row = RANDOM.random(7)
    assert WINDOWS.column_sums(VALUES) == pytest.approx(DENSE.sum(axis=0))
    assert WINDOWS.matrix(WINDOWS.spread(row)) == pytest.approx(row * MASK)
