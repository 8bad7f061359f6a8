"""Tents over the periods: their integer weights, the error and its slope against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mechanisms.continual import windows
from mechanisms.continual.windows import (
    UNIT,
    Layer,
    _even_layers,
    _improved,
    _LayerSearch,
    best_layers,
    mean_error,
)


def dense_mean_error(theta: np.ndarray, within_block: bool = False) -> float:
    """2/n ‖W A⁺‖² of A = [I; Θ] diag(1/(1 + column sums)), by a pseudo-inverse."""
    n = theta.shape[1]
    strategy = np.vstack([np.eye(n), theta]) / (1 + theta.sum(axis=0))
    # Within a block, the share of the whole sum that is taken off grows from 1/4 to 3/4.
    sums = np.tri(n) - within_block * (1 / 4 + np.arange(1, n + 1)[:, None] / (2 * n))
    return 2 / n * float((sums @ np.linalg.pinv(strategy)).__pow__(2).sum())


def test_a_tent_rises_from_its_neighbours_tops_and_is_flat_outside() -> None:
    layer = Layer((UNIT // 2, 4 * UNIT + UNIT // 2), (UNIT, UNIT // 2))
    weights = layer.weights(6) / UNIT**2
    np.testing.assert_allclose(weights[0], [1, 0.75, 0.5, 0.25, 0, 0])
    np.testing.assert_allclose(weights[1], [0, 0.125, 0.25, 0.375, 0.5, 0.5])


@pytest.mark.parametrize("within_block", [False, True])
def test_the_mean_error_is_that_of_the_dense_strategy(within_block: bool) -> None:
    theta = np.random.default_rng(1).random((3, 20))
    dense = dense_mean_error(theta, within_block)
    assert mean_error(theta, within_block)[0] == pytest.approx(dense, rel=1e-10)


@pytest.mark.parametrize("within_block", [False, True])
def test_the_slope_with_respect_to_the_weights_is_that_of_finite_differences(within_block: bool) -> None:
    theta = np.random.default_rng(2).random((2, 9))
    numeric = approx_fprime(theta.ravel(), lambda v: mean_error(v.reshape(2, 9), within_block)[0], 1e-7)
    np.testing.assert_allclose(mean_error(theta, within_block)[1].ravel(), numeric, atol=1e-4)


def test_the_slope_with_respect_to_knots_and_heights_is_that_of_finite_differences() -> None:
    search = _LayerSearch(60, (4, 2))
    start = search.vector(
        (Layer((5000, 20_000, 33_000, 51_000), (900,) * 4), Layer((20_000, 50_000), (800,) * 2))
    )
    point = start + 0.1 * np.random.default_rng(3).standard_normal(len(start))
    numeric = approx_fprime(point, lambda v: search(v)[0], 1e-7)
    np.testing.assert_allclose(search(point)[1], numeric, atol=1e-4)


@pytest.mark.parametrize(("periods", "free"), [(16, 13.226), (64, 28.325)])
def test_the_best_layers_come_near_a_free_strategy(periods: int, free: float) -> None:
    assert free - 1e-3 < dense_mean_error(_weights(periods)) < 1.012 * free


@pytest.mark.slow
@pytest.mark.parametrize("periods", [257, 400, 1024])
def test_layers_that_are_put_together_and_improved_come_near_optimised_ones(periods: int) -> None:
    optimised = mean_error(_weights_of(_improved(periods, _even_layers(periods), 100), periods))[0]
    assert mean_error(_weights(periods))[0] < 1.015 * optimised


@pytest.mark.slow
@pytest.mark.parametrize("periods", [257, 512, 700])
def test_layers_within_a_block_that_are_put_together_come_near_optimised_ones(periods: int) -> None:
    optimised = _weights_of(_improved(periods, _even_layers(periods, True), 100, True), periods)
    together = _weights_of(best_layers(periods, True), periods)
    assert mean_error(together, True)[0] < 1.1 * mean_error(optimised, True)[0]


def test_layers_that_are_only_put_together_come_near_optimised_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above 1,024 periods, on as many as can be optimised as well."""
    improved = mean_error(_weights(1024))[0]
    monkeypatch.setattr(windows, "_LONGEST_IMPROVED", 256)
    together = _weights_of(windows._best_layers(1024, False), 1024)
    assert improved < mean_error(together)[0] < 1.02 * improved


def _weights_of(layers: tuple[Layer, ...], periods: int) -> np.ndarray:
    return np.concatenate([layer.weights(periods) for layer in layers]) / UNIT**2


def _weights(periods: int) -> np.ndarray:
    return _weights_of(best_layers(periods, False), periods)


@pytest.mark.parametrize("periods", [1, 2, 8])
def test_few_periods_have_no_windows(periods: int) -> None:
    assert best_layers(periods, False) == best_layers(periods, True) == ()


@pytest.mark.parametrize("periods", [9, 20, 127, 128, 200])
def test_knots_increase_and_heights_are_not_negative(periods: int) -> None:
    layers = best_layers(periods, False)
    assert len(layers) == (1 if periods < 128 else 2)
    for layer in layers:
        assert (np.diff(layer.knots) > 0).all()
        assert min(layer.heights) >= 0


@pytest.mark.parametrize("periods", [1025, 1026, 1791, 1792, 4096])
def test_three_layers_at_most_are_put_together(periods: int) -> None:
    layers = best_layers(periods, False)
    assert len(layers) == (2 if periods < 1785 else 3)
    assert all((np.diff(layer.knots) > 0).all() for layer in layers)


def test_more_periods_than_windows_serve_are_refused() -> None:
    with pytest.raises(ValueError, match="1 to 4096 periods, not 4097"):
        best_layers(4097, False)
