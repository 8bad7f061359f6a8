"""Windows as a dense matrix: columns, best estimates, the shift that privacy rests on; and the stream they make."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.continual.block_tree import Nested
from mechanisms.continual.fda import FactorisationDiagonal
from mechanisms.continual.mechanism import StreamPlan, StreamRequest
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.tree import BinaryTree
from mechanisms.continual.window_stream import WindowStream
from mechanisms.continual.windows import UNIT, Layer, best_layers
from mechanisms.protocol import PlanError
from tests.mechanisms.continual.lanes import NoNoise, publish, repeatable_noise, strategy_noise

MECHANISM = WindowStream()
TWO_LAYERS = (
    Layer((3 * UNIT, 9 * UNIT, 17 * UNIT, 30 * UNIT), (900, 800, 700, 300)),
    Layer((10 * UNIT, 28 * UNIT), (850, 400)),
)
WINDOWS = [
    NestedWindows(1, (), 2**14),
    NestedWindows(7, (), 2**24),
    NestedWindows(33, TWO_LAYERS, 2**14),
    NestedWindows(33, TWO_LAYERS, 2**24 - 12345),
    NestedWindows(40, best_layers(40, False), 2**20),
]


def epsilon(amount: str) -> Loss:
    return Loss(Definition.PURE, Fraction(amount))


def plan_for(periods: int, amount: str = "1", series: int = 1) -> StreamPlan:
    return MECHANISM.plan(StreamRequest(periods, series), epsilon(amount))


def dense(strategy: NestedWindows) -> np.ndarray:
    """A, (n + p, n) integers, answers in the order in which their noise is drawn."""
    return np.vstack([np.diag(strategy.own), strategy.unit * strategy.multiples])


def dense_nested(strategy: Nested, periods: int) -> np.ndarray:
    """A of a nested strategy, in the order of drawing: outer, then the inner answers of one block after the other."""
    blocks = np.eye(strategy.outer.periods, dtype=np.int64)
    totals = np.repeat(blocks, strategy.inner.periods, axis=1)
    outer = dense(strategy.outer) @ totals
    return np.vstack([outer, np.kron(blocks, dense(strategy.inner))])[:, :periods]


@pytest.mark.parametrize("strategy", WINDOWS, ids=str)
def test_every_column_adds_up_to_the_grid(strategy: NestedWindows) -> None:
    columns = dense(strategy)
    assert (columns >= 0).all()
    assert set(columns.sum(axis=0).tolist()) == {strategy.grid} == {strategy.column.l1}
    assert (columns**2).sum(axis=0).max() == strategy.column.l2_squared


@pytest.mark.parametrize("strategy", WINDOWS, ids=str)
def test_the_energies_are_those_of_best_linear_estimates(strategy: NestedWindows) -> None:
    best = np.tri(strategy.periods) @ np.linalg.pinv(dense(strategy).astype(float))
    periods = np.arange(1, strategy.periods + 1)
    np.testing.assert_allclose(strategy.energies(periods), (best**2).sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(strategy.fourth_powers(periods), (best**4).sum(axis=1), rtol=1e-8)
    assert strategy.mean_energy(strategy.periods) == pytest.approx((best**2).sum(axis=1).mean())


@pytest.mark.parametrize("strategy", WINDOWS, ids=str)
@pytest.mark.parametrize("width", [10.0, 1e6, 1e12])
def test_answers_that_are_shifted_shift_the_counts_exactly(strategy: NestedWindows, width: float) -> None:
    """G(z + Ax) = G(z) + Wx, whatever the noise: the counts are a function of the noisy answers alone."""
    generator = np.random.default_rng(4)
    matrix = dense(strategy)
    z = np.rint(generator.standard_normal((len(matrix), 2)) * width * strategy.grid / 2**14).astype(np.int64)
    x = generator.integers(0, 1000, (strategy.periods, 2))
    shifted = strategy_noise(strategy, strategy.periods, z + matrix @ x)
    np.testing.assert_array_equal(
        shifted, strategy_noise(strategy, strategy.periods, z) + np.cumsum(x, axis=0)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("periods", "largest"), [(255, 56), (1023, 95), (4095, 150), (65_535, 345), (2**20 - 1, 640)]
)
def test_the_error_at_each_horizon(periods: int, largest: float) -> None:
    assert plan_for(periods).mean_squared_error <= largest


@pytest.mark.parametrize(
    "periods", [256, 511, 1023, 4096, 4097, 5000, 8191, 16_383, 65_535, 2**18, 700_000, 2**20]
)
def test_the_error_is_a_tenth_of_the_binary_trees_and_a_quarter_of_fda_s(periods: int) -> None:
    request, error = StreamRequest(periods), plan_for(periods).mean_squared_error
    assert error <= BinaryTree().plan(request, epsilon("1")).mean_squared_error / 10
    assert error <= FactorisationDiagonal().plan(request, epsilon("1")).mean_squared_error / 4


def errors_of(plan: StreamPlan, seed: str) -> np.ndarray:
    """(N, k): what k streams of nothing publish."""
    nothing = np.zeros((plan.request.horizon or 0, plan.request.series), dtype=np.int64)
    return publish(MECHANISM, plan, nothing, repeatable_noise(seed))


@pytest.mark.parametrize("amount", ["0.1", "1", "2"])
def test_published_counts_have_the_stated_variances(amount: str) -> None:
    """20,000 streams side by side; a false alarm has probability below 1e-6 (6 standard errors, 30 periods)."""
    lanes, periods = 20_000, 30
    plan = plan_for(periods, amount, lanes)
    stated = MECHANISM.variances(plan, np.arange(1, periods + 1))
    assert plan.mean_squared_error == pytest.approx(stated.mean())
    # The excess kurtosis of a weighted sum of Laplace noise is at most 3.
    squares = (errors_of(plan, "variances").astype(float) ** 2).mean(axis=1)
    np.testing.assert_allclose(squares, stated, rtol=6 * (5 / lanes) ** 0.5)


@pytest.mark.parametrize("amount", ["0.1", "1", "5"])
def test_intervals_hold_the_true_counts_as_often_as_stated(amount: str) -> None:
    """A false alarm has probability below 1e-6 (6 standard errors below 95 %, 30 periods)."""
    lanes, periods = 20_000, 30
    plan = plan_for(periods, amount, lanes)
    half_widths = MECHANISM.half_widths(plan, np.arange(1, periods + 1))
    within = (np.abs(errors_of(plan, "intervals")) <= half_widths[:, None]).mean(axis=1)
    assert (within >= 0.95 - 6 * (0.05 * 0.95 / lanes) ** 0.5).all()


@pytest.mark.parametrize("periods", [1, 8, 60])
def test_without_noise_the_counts_are_exact(periods: int) -> None:
    increments = np.arange(2 * periods, dtype=np.int64).reshape(periods, 2)
    counts = publish(MECHANISM, plan_for(periods, series=2), increments, NoNoise())
    np.testing.assert_array_equal(counts, np.cumsum(increments, axis=0))


def test_a_state_that_is_stored_between_periods_makes_no_difference() -> None:
    plan = StreamPlan.from_json(plan_for(50, series=3).to_json())
    increments = np.ones((50, 3), dtype=np.int64)
    kept = publish(MECHANISM, plan, increments, repeatable_noise("kept"))
    stored = publish(MECHANISM, plan, increments, repeatable_noise("kept"), stored=True)
    np.testing.assert_array_equal(kept, stored)


def test_a_zcdp_loss_is_refused() -> None:
    with pytest.raises(PlanError, match="needs a budget in ε"):
        MECHANISM.plan(StreamRequest(10), Loss(Definition.ZCDP, Fraction(1)))
