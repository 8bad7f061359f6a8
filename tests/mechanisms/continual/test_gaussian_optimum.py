"""The certified optimum: published values, the certificate, and the whole weights made of it."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.continual.gaussian_optimum import GaussianOptimumStream, OptimalTriangle, triangular_optimum
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.protocol import PlanError
from tests.mechanisms.continual.test_toeplitz import KNOWN, MECHANISM, UNIT_LOSS, dense, total_error


def attained(periods: int) -> float:
    """‖W A^-1‖² of the real optimum, by dense algebra."""
    strategy = triangular_optimum(periods).strategy
    assert (np.triu(strategy, 1) == 0).all()
    assert np.linalg.norm(strategy, axis=0) == pytest.approx(1, abs=1e-12)
    return float(((np.tri(periods) @ np.linalg.inv(strategy)) ** 2).sum())


@pytest.mark.parametrize(
    ("periods", "error"),
    [
        (1, 1.0),
        (2, KNOWN["gaussian_prefix_optimum_n2_phi2"]),
        (3, KNOWN["gaussian_prefix_optimum_n3"]),
        (4, KNOWN["gaussian_prefix_n4"]["optimum"]),
    ],
)
def test_the_error_is_the_published_one(periods: int, error: float) -> None:
    assert total_error(GaussianOptimumStream(), periods) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize(
    ("periods", "gap"),
    [
        (5, 3e-9),
        (100, 1e-6),
        (256, 7e-6),
        *(pytest.param(periods, 1e-4, marks=pytest.mark.slow) for periods in (1024, 2048)),
    ],
)
def test_the_bound_lies_below_what_is_attained_and_close(periods: int, gap: float) -> None:
    bound = triangular_optimum(periods).lower_bound
    assert bound <= attained(periods) <= (1 + gap) * bound


@pytest.mark.parametrize("bound", [KNOWN["gaussian_prefix_svd_bound_n2"]])
def test_the_bound_is_above_the_weaker_bound_by_singular_values(bound: float) -> None:
    assert triangular_optimum(2).lower_bound > bound


def test_no_strategy_at_random_beats_the_bound() -> None:
    generator = np.random.default_rng(7)
    bound = triangular_optimum(6).lower_bound
    for _ in range(200):
        strategy = np.tril(generator.standard_normal((6, 6)) * 0.3 + np.eye(6))
        strategy /= np.linalg.norm(strategy, axis=0)
        assert ((np.tri(6) @ np.linalg.inv(strategy)) ** 2).sum() >= bound


@pytest.mark.slow
@pytest.mark.parametrize(("periods", "root"), [(256, 2.5244), (1024, 2.9555)])
def test_the_root_mean_error_is_the_published_one(periods: int, root: float) -> None:
    mean = total_error(GaussianOptimumStream(), periods) / periods
    assert mean**0.5 == pytest.approx(root, rel=2e-5)


def test_it_beats_the_square_root_weights() -> None:
    assert total_error(GaussianOptimumStream(), 256) < 0.9 * total_error(MECHANISM, 256)


@pytest.mark.parametrize("grid", [2**14, 2**24, 1000])
def test_sensitivity_and_energies_are_those_of_the_dense_matrix(grid: int) -> None:
    strategy = OptimalTriangle(30, grid)
    columns = dense(strategy)
    assert columns.min() >= 0
    assert columns.sum(axis=0).max() == strategy.column.l1
    assert (columns**2).sum(axis=0).max() <= grid**2 == strategy.column.l2_squared
    estimates = np.tri(30) @ np.linalg.inv(columns)
    each = np.arange(1, 31)
    np.testing.assert_allclose(strategy.energies(each), (estimates**2).sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(strategy.fourth_powers(each), (estimates**4).sum(axis=1), rtol=1e-8)


def test_more_periods_than_the_optimum_serves_are_refused() -> None:
    with pytest.raises(PlanError, match="1 to 1,024 periods, not 1,025"):
        GaussianOptimumStream().plan(StreamRequest(1025), UNIT_LOSS)
