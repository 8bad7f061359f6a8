"""The integer grid: norms are exact and never above the weights', and hardly any accuracy is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mechanisms.histogram.haar import Haar
from mechanisms.matrix.factor import AllRange, Factor, Prefix
from mechanisms.matrix.grid import BITS, PRODUCT_BITS, bits_for, on_grid
from mechanisms.matrix.hierarchy import haar_rows
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.optimise.p_identity import p_identity
from mechanisms.matrix.strategy import Kronecker


def laplace(A: np.ndarray, factor: Factor) -> float:
    return float(np.abs(A).sum(axis=0).max() ** 2) * _trace(A, factor)


def gaussian(A: np.ndarray, factor: Factor) -> float:
    return float((A**2).sum(axis=0).max()) * _trace(A, factor)


def _trace(A: np.ndarray, factor: Factor) -> float:
    return float(np.trace(factor.gram() @ np.linalg.inv(A.T @ A)))


def optimum(factor: Factor) -> np.ndarray:
    return gaussian_optimum(factor).strategy


def identity(factor: Factor) -> np.ndarray:
    return p_identity(factor, starts=1).strategy()


@pytest.mark.parametrize("gridded", [1, 2, 3])
@pytest.mark.parametrize("factor", [Prefix(64), AllRange(100)], ids=str)
@pytest.mark.parametrize(
    ("find", "error"), [(identity, laplace), (optimum, gaussian)], ids=["laplace", "gaussian"]
)
def test_optimised_strategies_lose_less_than_a_thousandth(
    find: Callable[[Factor], np.ndarray],
    error: Callable[[np.ndarray, Factor], float],
    factor: Factor,
    gridded: int,
) -> None:
    """Also as one of two factors of a product, whose losses add up; of three, hardly more."""
    A = find(factor)
    before, after = error(A, factor), error(on_grid(A, bits_for(gridded)).astype(float), factor)
    assert gridded * (after / before - 1) < (1e-3 if gridded < 3 else 1.5e-3)


def test_rounding_never_raises_a_column_norm() -> None:
    A = np.random.default_rng(1).normal(size=(7, 5))
    integers = on_grid(A).astype(float)
    scale = 2.0**BITS / np.sqrt((A**2).sum(axis=0).max())
    assert (np.abs(integers) <= np.abs(A) * scale).all()
    assert np.abs(integers - A * scale).max() < 1


def test_small_integers_are_kept_up_to_their_divisor() -> None:
    assert (on_grid(np.array([[2.0, 4.0], [0.0, -6.0]])) == [[1, 2], [0, -3]]).all()
    assert (on_grid(np.ones((1, 3))) == 1).all()


def test_equal_weights_stay_equal() -> None:
    rows = np.asarray(Kronecker([haar_rows(Haar((1, 1, 1)), 4)]).matrix().todense())
    assert np.array_equal(on_grid(rows / 7.0), rows)


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.array([[np.nan]]), "finite"), (np.array([[np.inf]]), "finite"), (np.zeros((2, 2)), "not 0")],
)
def test_weights_that_are_no_strategy_are_refused(weights: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        on_grid(weights)


def test_the_factors_of_a_product_share_the_bits() -> None:
    assert [bits_for(k) for k in range(5)] == [20, 20, 16, 12, 9]
    assert all(k * bits_for(k) <= PRODUCT_BITS for k in range(1, 10))
