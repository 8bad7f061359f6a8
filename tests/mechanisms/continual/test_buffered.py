"""Buffered weights: whole answers against their bounds, errors against dense algebra, and the stream they make."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.buffered import (
    BUFFER_BITS,
    PARAMETER_BITS,
    BufferedToeplitz,
    best_buffers,
    column_energy,
    response,
)
from mechanisms.continual.buffered_stream import BufferedToeplitzStream
from mechanisms.continual.mechanism import StreamPlan, StreamRequest
from mechanisms.continual.toeplitz import RootToeplitzStream
from mechanisms.noise import Noise, NoiseLaw
from mechanisms.protocol import PlanError
from tests.mechanisms.continual.lanes import NoNoise, publish, repeatable_noise
from tests.mechanisms.neighbours import UNITS, name, pairs

MECHANISM = BufferedToeplitzStream()
UNIT_LOSS = Loss(Definition.ZCDP, Fraction(1, 2))


def plan_for(periods: int, series: int = 1, loss: Loss = UNIT_LOSS) -> StreamPlan:
    return MECHANISM.plan(StreamRequest(periods, series), loss)


def coefficients(strategy: BufferedToeplitz) -> np.ndarray:
    """(n,) c_k as floats: θ and ω have few enough bits to be exact."""
    theta, omega = (np.array(v) / 2.0**PARAMETER_BITS for v in (strategy.decays, strategy.weights))
    return np.array([1.0, *[float(omega @ theta**k) for k in range(strategy.periods - 1)]])


def answers(strategy: BufferedToeplitz, increments: list[int]) -> list[int]:
    """The whole answers that a stream has without noise."""
    buffers, whole = strategy.empty, []
    for increment in increments:
        whole.append(strategy.head * increment + buffers.answer(strategy.head))
        buffers = buffers.after(increment << BUFFER_BITS)
    return whole


def squared_distance(strategy: BufferedToeplitz, one: list[int], other: list[int]) -> int:
    pairs = zip(answers(strategy, one), answers(strategy, other), strict=True)
    return sum((a - b) ** 2 for a, b in pairs)


class Prescribed(Noise):
    """Hands out given noise, period by period."""

    def __init__(self, values: list[int]) -> None:
        super().__init__()
        self._left = list(values)

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        drawn, self._left = self._left[:size], self._left[size:]
        return np.array(drawn, dtype=np.int64)


@pytest.mark.parametrize("periods", [1, 2, 60])
@pytest.mark.parametrize("rows", [1, 5])
def test_no_rows_in_any_periods_move_the_answers_further_than_stated(periods: int, rows: int) -> None:
    generator = np.random.default_rng(8)
    strategy = MECHANISM.strategy(plan_for(periods))
    bound = rows**2 * strategy.column.l2_squared
    for first in range(periods):
        base = generator.integers(0, 50, periods).tolist()
        together, apart = list(base), list(base)
        together[first] += rows
        for place in generator.integers(0, periods, rows).tolist():
            apart[place] += 1
        assert squared_distance(strategy, base, together) <= bound
        assert squared_distance(strategy, base, apart) <= bound
        # Replacing a person: one period's rows leave, others come.
        assert squared_distance(strategy, together, apart) <= 2 * bound


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_no_person_moves_the_answers_further_than_planned(unit: PrivacyUnit) -> None:
    """Brute force over all neighbours of four periods, as for the other streams in `test_stream_sensitivity`."""
    plan = plan_for(4, loss=Loss(Definition.ZCDP, Fraction(1, 2), unit))
    strategy, base = MECHANISM.strategy(plan), np.array([3, 0, 7, 1])
    before, after = pairs(unit, 4)
    persons, which = np.unique(np.vstack([before, after]), axis=0, return_inverse=True)
    whole = np.array([answers(strategy, (base + person).tolist()) for person in persons], dtype=object)
    first, second = np.split(whole[which.ravel()], 2)
    assert abs(second - first).sum(axis=1).max() <= plan.sensitivity.l1
    assert ((second - first) ** 2).sum(axis=1).max() <= plan.sensitivity.l2_squared


def test_the_sensitivity_is_hardly_above_that_of_the_real_matrix() -> None:
    strategy = MECHANISM.strategy(plan_for(5000))
    exact = strategy.head**2 * float((coefficients(strategy) ** 2).sum())
    assert exact <= strategy.column.l2_squared <= 1.0001 * exact


def test_streams_with_the_same_noisy_answers_publish_the_same_counts() -> None:
    """The published counts are a function of the noisy answers alone: privacy is that of Gaussian noise on them."""
    generator = np.random.default_rng(9)
    plan = plan_for(50)
    strategy = MECHANISM.strategy(plan)
    one, other = (generator.integers(0, 100, 50) for _ in range(2))
    noise = generator.integers(-(2**26), 2**26, 50).tolist()
    pairs = zip(noise, answers(strategy, one.tolist()), answers(strategy, other.tolist()), strict=True)
    compensated = [z + a - b for z, a, b in pairs]
    published = [
        publish(MECHANISM, plan, increments.reshape(-1, 1), Prescribed(values))
        for increments, values in ((one, noise), (other, compensated))
    ]
    np.testing.assert_array_equal(published[0], published[1])


@pytest.mark.parametrize("periods", [1, 3, 80])
def test_energies_are_those_of_the_dense_matrix(periods: int) -> None:
    strategy = MECHANISM.strategy(plan_for(periods))
    c = coefficients(strategy)
    matrix = np.array([np.pad(c[t::-1], (0, periods - 1 - t)) for t in range(periods)])
    estimates = np.tri(periods) @ np.linalg.inv(strategy.head * matrix)
    each = np.arange(1, periods + 1)
    np.testing.assert_allclose(strategy.energies(each), (estimates**2).sum(axis=1), rtol=1e-8)
    assert strategy.mean_energy(periods) == pytest.approx((estimates**2).sum(axis=1).mean(), rel=1e-8)
    theta, omega = (np.array(v) / 2.0**PARAMETER_BITS for v in (strategy.decays, strategy.weights))
    assert column_energy(theta, omega, periods) == pytest.approx((c**2).sum())


def test_the_response_adds_up_the_inverse() -> None:
    theta, omega = np.array([0.5, 0.95]), np.array([0.6, 0.1])
    series = response(theta, omega)
    c = np.array([1.0, *[(omega * theta**k).sum() for k in range(19)]])
    matrix = np.array([np.pad(c[t::-1], (0, 19 - t)) for t in range(20)])
    powers = [float((series.factors * series.rates**k).sum()) for k in range(20)]
    np.testing.assert_allclose(powers, np.cumsum(np.linalg.inv(matrix)[:, 0]), atol=1e-12)


@pytest.mark.parametrize("periods", [64, 1024, 4096])
def test_a_few_buffers_do_as_well_as_the_square_root(periods: int) -> None:
    root = RootToeplitzStream().plan(StreamRequest(periods), UNIT_LOSS)
    assert plan_for(periods).mean_squared_error < root.mean_squared_error


@pytest.mark.slow
def test_a_million_periods_are_planned_with_a_state_of_some_hundred_bytes() -> None:
    plan = plan_for(2**20)
    # The square root's error there: the largest sum of squares of its coefficients times their mean.
    k = np.arange(1, 2**20)
    sums = 1 + np.concatenate([[0.0], np.cumsum(np.cumprod((2 * k - 1) / (2 * k)) ** 2)])
    assert plan.mean_squared_error < 1.01 * sums[-1] * sums.mean()
    _, state = MECHANISM.advance(
        plan, MECHANISM.open(plan, NoNoise()), np.array([7], dtype=np.int64), repeatable_noise("one")
    )
    assert len(state.to_bytes()) < 1000


def test_parameters_lie_between_0_and_1() -> None:
    for periods in (1, 10, 1000, 2**20):
        kept, weights = best_buffers(periods)
        assert min(kept) > 0 and max(kept) < 2**PARAMETER_BITS
        assert min(weights) > 0 and max(weights) < 2**PARAMETER_BITS


@pytest.mark.slow
def test_published_counts_have_the_stated_variances() -> None:
    """4,000 streams side by side; a false alarm has probability below 1e-6 (6 standard errors, 30 periods)."""
    lanes, periods = 4_000, 30
    plan = plan_for(periods, lanes, Loss(Definition.ZCDP, Fraction(1, 10)))
    errors = publish(MECHANISM, plan, np.zeros((periods, lanes), dtype=np.int64), repeatable_noise("blt"))
    each = np.arange(1, periods + 1)
    stated = MECHANISM.variances(plan, each)
    np.testing.assert_allclose((errors.astype(float) ** 2).mean(axis=1), stated, rtol=6 * (2 / lanes) ** 0.5)
    assert plan.mean_squared_error == pytest.approx(stated.mean())
    within = (np.abs(errors) <= MECHANISM.half_widths(plan, each)[:, None]).mean(axis=1)
    assert (within >= 0.95 - 6 * (0.05 * 0.95 / lanes) ** 0.5).all()


@pytest.mark.parametrize("periods", [1, 3, 300])
def test_without_noise_the_counts_are_exact(periods: int) -> None:
    increments = np.arange(2 * periods, dtype=np.int64).reshape(periods, 2)
    counts = publish(MECHANISM, plan_for(periods, 2), increments, NoNoise())
    np.testing.assert_array_equal(counts, np.cumsum(increments, axis=0))


def test_a_state_that_is_stored_between_periods_makes_no_difference() -> None:
    plan = StreamPlan.from_json(json.loads(json.dumps(plan_for(40, 3).to_json())))
    increments = np.ones((40, 3), dtype=np.int64)
    kept = publish(MECHANISM, plan, increments, repeatable_noise("kept"))
    stored = publish(MECHANISM, plan, increments, repeatable_noise("kept"), stored=True)
    np.testing.assert_array_equal(kept, stored)


def test_replacing_a_person_doubles_the_variance() -> None:
    replaced = Loss(Definition.ZCDP, Fraction(1, 2), PrivacyUnit(Neighbours.REPLACE_ONE))
    one, other = (plan_for(20, loss=loss).mean_squared_error - 1 / 12 for loss in (UNIT_LOSS, replaced))
    assert other == pytest.approx(2 * one)


def test_a_stream_that_is_over_and_a_pure_loss_are_refused() -> None:
    plan = plan_for(1)
    _, state = MECHANISM.advance(
        plan, MECHANISM.open(plan, NoNoise()), np.array([1], dtype=np.int64), NoNoise()
    )
    with pytest.raises(ValueError, match="all 1 periods of the stream are published"):
        MECHANISM.advance(plan, state, np.array([1], dtype=np.int64), NoNoise())
    with pytest.raises(PlanError, match="needs a budget in ρ"):
        MECHANISM.plan(StreamRequest(5), Loss(Definition.PURE, Fraction(1)))
