"""The integer grid: norms are exact and never above the weights', and hardly any accuracy is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.linear.haar import Haar
from mechanisms.matrix.fixed_strategies import as_rows
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.optimise.p_identity import p_identity
from mechanisms.matrix.strategy.grid import BITS, PRODUCT_BITS, bits_for, on_grid
from mechanisms.matrix.strategy.levels import HaarRows
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Prefix, Width


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
    """Also as one of two or three factors of a product, whose losses add up."""
    A = find(factor)
    definition = Definition.PURE if error is laplace else Definition.ZCDP
    rounded = on_grid(A, bits_for(gridded), definition).astype(float)
    assert gridded * (error(rounded, factor) / error(A, factor) - 1) < 1e-3


@pytest.mark.parametrize("definition", Definition)
def test_each_weight_goes_to_an_integer_beside_it_and_columns_keep_their_norm(definition: Definition) -> None:
    A = np.random.default_rng(1).normal(size=(70, 5)) / np.arange(1, 71)[:, None]
    scaled = A * 2.0**BITS / np.sqrt((A**2).sum(axis=0).max())
    integers = on_grid(A, definition=definition).astype(float)
    assert np.abs(integers - scaled).max() < 1
    order = 1 if definition is Definition.PURE else 2
    norms = (np.linalg.norm(x, order, axis=0) for x in (integers, scaled))
    assert np.abs(next(norms) - next(norms)).max() <= 0.5


@pytest.mark.parametrize("definition", Definition)
def test_queries_of_few_dimensions_are_answered_exactly_after_rounding(definition: Definition) -> None:
    """Real weights, as one of three uploads of a product: their rounded row space no longer holds them."""
    rng = np.random.default_rng(4)
    few = Explicit(rng.normal(size=(4, 2)) @ rng.normal(size=(2, 6)))
    rows, counts = as_rows(few, bits_for(3), definition), rng.integers(0, 10**6, 6)
    estimate = rows.solve(rows.transposed_times(rows.times(counts)))
    assert few.times(estimate) == pytest.approx(few.times(counts), rel=1e-9, abs=1e-3)


def test_tying_few_sums_to_the_cells_costs_little() -> None:
    factor = Width(40, 8)
    loss = gaussian_optimum(factor).loss
    for gridded, allowed in ((1, 2e-5), (2, 1e-4), (3, 3e-3)):
        rows = MatrixRows.of(optimum(factor), bits_for(gridded), Definition.ZCDP)
        assert rows.complete
        assert rows.column.l2_squared * rows.trace(factor) < (1 + allowed) * loss


def test_the_sums_of_a_thousand_million_rows_fit_64_bits() -> None:
    assert 10**9 * 2 ** (PRODUCT_BITS + 1) < 2**63


def test_decimal_fractions_and_multiples_are_kept() -> None:
    assert (on_grid(np.array([[0.1, 0.25], [0.0, -0.3]])) == [[2, 5], [0, -6]]).all()
    assert (on_grid(np.array([[2 / 7, 6 / 7], [0.0, -4 / 7]])) == [[1, 3], [0, -2]]).all()


def test_small_integers_are_kept_up_to_their_divisor() -> None:
    assert (on_grid(np.array([[2.0, 4.0], [0.0, -6.0]])) == [[1, 2], [0, -3]]).all()
    assert (on_grid(np.ones((1, 3))) == 1).all()


def test_equal_weights_stay_equal() -> None:
    rows = np.asarray(Kronecker([HaarRows(Haar((1, 1, 1)), 4)]).matrix().todense())
    assert np.array_equal(on_grid(rows / 7.0), rows)


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.array([[np.nan]]), "finite"), (np.array([[np.inf]]), "finite"), (np.zeros((2, 2)), "not 0")],
)
def test_weights_that_are_no_strategy_are_refused(weights: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        on_grid(weights)


def test_the_factors_of_a_product_share_the_bits() -> None:
    assert [bits_for(k) for k in range(5)] == [20, 20, 16, 10, 8]
    assert all(k * bits_for(k) <= PRODUCT_BITS for k in range(1, 10))
