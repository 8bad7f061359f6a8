"""Square-root weights: the published constants, the shift that privacy rests on, and the stream they make."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.gaussian_optimum import GaussianOptimumStream
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest
from mechanisms.continual.toeplitz import RootToeplitz, RootToeplitzStream, root_coefficients
from mechanisms.continual.triangular import Triangular
from mechanisms.protocol import PlanError
from tests.mechanisms.continual.lanes import NoNoise, publish, repeatable_noise, strategy_noise

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "known_answers.json").read_text())
MECHANISM = RootToeplitzStream()
# Of a published count's variance, what its rounding adds.
ROUNDING = 1 / 12
# ρ with noise of variance 1 for a sensitivity of 1.
UNIT_LOSS = Loss(Definition.ZCDP, Fraction(1, 2))
MECHANISMS: list[StreamMechanism] = [MECHANISM, GaussianOptimumStream()]


def dense(strategy: Triangular) -> np.ndarray:
    """A, (n, n) integers."""
    n = strategy.periods
    return np.array([np.pad(strategy.row(t), (0, n - t)) for t in range(1, n + 1)])


def total_error(mechanism: StreamMechanism, periods: int) -> float:
    """Squared error over all periods at ρ = 1/2, before rounding."""
    plan = mechanism.plan(StreamRequest(periods), UNIT_LOSS)
    return periods * (plan.mean_squared_error - ROUNDING)


@pytest.mark.parametrize("size", [4, 256])
def test_the_sum_of_squares_is_the_published_one(size: int) -> None:
    squares = KNOWN["sqrt_toeplitz_sum_squares"][str(size)]
    assert (root_coefficients(size) ** 2).sum() == pytest.approx(squares, abs=5e-6)


def test_the_coefficients_are_the_square_root_of_the_running_sums() -> None:
    np.testing.assert_allclose(np.convolve(root_coefficients(50), root_coefficients(50))[:50], 1)


@pytest.mark.parametrize(
    ("periods", "error"), [(2, KNOWN["sqrt_toeplitz_n2"]), (4, KNOWN["gaussian_prefix_n4"]["sqrt_toeplitz"])]
)
def test_the_error_is_the_published_one(periods: int, error: float) -> None:
    assert total_error(MECHANISM, periods) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("periods", [1, 7, 40])
def test_sensitivity_and_energies_are_those_of_the_dense_matrix(periods: int) -> None:
    strategy = RootToeplitz(periods, 123_456)
    columns = dense(strategy)
    assert columns.sum(axis=0).max() == strategy.column.l1
    assert (columns**2).sum(axis=0).max() == strategy.column.l2_squared
    estimates = np.tri(periods) @ np.linalg.inv(columns)
    each = np.arange(1, periods + 1)
    np.testing.assert_allclose(strategy.energies(each), (estimates**2).sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(strategy.fourth_powers(each), (estimates**4).sum(axis=1), rtol=1e-9)
    assert strategy.mean_energy(periods) == pytest.approx((estimates**2).sum(axis=1).mean())


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
@pytest.mark.parametrize("width", [1, 2**24, 10**12])
def test_answers_that_are_shifted_shift_the_counts_exactly(mechanism: StreamMechanism, width: int) -> None:
    """G(z + Ax) = G(z) + Wx, whatever the noise: the counts are a function of the noisy answers alone."""
    periods = 45
    strategy = mechanism.strategy(mechanism.plan(StreamRequest(periods), UNIT_LOSS))  # type: ignore[attr-defined]
    generator = np.random.default_rng(6)
    z = generator.integers(-40 * width, 40 * width, (periods, 2))
    x = generator.integers(0, 1000, (periods, 2))
    shifted = strategy_noise(strategy, periods, z + dense(strategy) @ x)
    np.testing.assert_array_equal(shifted, strategy_noise(strategy, periods, z) + np.cumsum(x, axis=0))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_published_counts_have_the_stated_variances(mechanism: StreamMechanism) -> None:
    """20,000 streams side by side; a false alarm has probability below 1e-6 (6 standard errors, 30 periods)."""
    lanes, periods = 20_000, 30
    plan = mechanism.plan(StreamRequest(periods, lanes), Loss(Definition.ZCDP, Fraction(1, 10)))
    errors = publish(mechanism, plan, np.zeros((periods, lanes), dtype=np.int64), repeatable_noise("lanes"))
    each = np.arange(1, periods + 1)
    stated = mechanism.variances(plan, each)
    np.testing.assert_allclose((errors.astype(float) ** 2).mean(axis=1), stated, rtol=6 * (2 / lanes) ** 0.5)
    assert plan.mean_squared_error == pytest.approx(stated.mean())
    within = (np.abs(errors) <= mechanism.half_widths(plan, each)[:, None]).mean(axis=1)
    assert (within >= 0.95 - 6 * (0.05 * 0.95 / lanes) ** 0.5).all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
@pytest.mark.parametrize("periods", [1, 2, 60, 300])
def test_without_noise_the_counts_are_exact(mechanism: StreamMechanism, periods: int) -> None:
    increments = np.arange(2 * periods, dtype=np.int64).reshape(periods, 2)
    plan = mechanism.plan(StreamRequest(periods, 2), UNIT_LOSS)
    np.testing.assert_array_equal(
        publish(mechanism, plan, increments, NoNoise()), np.cumsum(increments, axis=0)
    )


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_a_state_that_is_stored_between_periods_makes_no_difference(mechanism: StreamMechanism) -> None:
    plan = StreamPlan.from_json(
        json.loads(json.dumps(mechanism.plan(StreamRequest(40, 3), UNIT_LOSS).to_json()))
    )
    increments = np.ones((40, 3), dtype=np.int64)
    kept = publish(mechanism, plan, increments, repeatable_noise("kept"))
    stored = publish(mechanism, plan, increments, repeatable_noise("kept"), stored=True)
    np.testing.assert_array_equal(kept, stored)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_replacing_a_person_doubles_the_variance(mechanism: StreamMechanism) -> None:
    """No weight is negative, so what one column adds and another takes away is never more than √2 of one."""
    replaced = Loss(Definition.ZCDP, Fraction(1, 2), PrivacyUnit(Neighbours.REPLACE_ONE))
    errors = [
        mechanism.plan(StreamRequest(20), loss).mean_squared_error - ROUNDING
        for loss in (UNIT_LOSS, replaced)
    ]
    assert errors[1] == pytest.approx(2 * errors[0])


def test_a_pure_loss_and_a_horizon_that_is_too_long_are_refused() -> None:
    with pytest.raises(PlanError, match="needs a budget in ρ"):
        MECHANISM.plan(StreamRequest(10), Loss(Definition.PURE, Fraction(1)))
    with pytest.raises(PlanError, match="1 to 4,096 periods, not 4,097"):
        MECHANISM.plan(StreamRequest(4097), UNIT_LOSS)


def test_the_first_column_is_as_long_as_the_grid_allows() -> None:
    plan = MECHANISM.plan(StreamRequest(1000), UNIT_LOSS)
    assert math.sqrt(plan.sensitivity.l2_squared) <= 2**24
    assert math.sqrt(plan.sensitivity.l2_squared) > (1 - 1e-5) * 2**24
