"""Blocks of blocks as a dense matrix, and as a live stream."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.continual.block_tree import BlockLevels, Nested, best_outer_share, block_length
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.strategy import ROUNDING_VARIANCE
from mechanisms.continual.windows import best_layers
from mechanisms.noise import DiscreteLaplace
from tests.mechanisms.continual.lanes import NoNoise, publish, repeatable_noise, strategy_noise
from tests.mechanisms.continual.test_p_identity import MECHANISM, dense, dense_nested, epsilon, plan_for

# 11 blocks of 12 periods, of which the last is cut short; and 3 of 3.
NESTED = [
    (
        Nested(
            NestedWindows(11, best_layers(11, False), 2**19), NestedWindows(12, best_layers(12, True), 2**20)
        ),
        127,
    ),
    (Nested(NestedWindows(3, (), 2**14), NestedWindows(3, (), 2**14)), 8),
]


@pytest.mark.parametrize(("strategy", "periods"), NESTED)
def test_the_sensitivity_is_that_of_the_largest_column(strategy: Nested, periods: int) -> None:
    columns = dense_nested(strategy, periods)
    assert columns.sum(axis=0).max() == strategy.column.l1
    assert (columns**2).sum(axis=0).max() <= strategy.column.l2_squared


@pytest.mark.parametrize(("strategy", "periods"), NESTED)
def test_answers_that_are_shifted_shift_the_counts_exactly(strategy: Nested, periods: int) -> None:
    generator = np.random.default_rng(5)
    matrix = dense_nested(strategy, periods)
    z = np.rint(generator.standard_normal((len(matrix), 2)) * 30 * 2**20).astype(np.int64)
    x = generator.integers(0, 1000, (periods, 2))
    shifted = strategy_noise(strategy, periods, z + matrix @ x)
    np.testing.assert_array_equal(shifted, strategy_noise(strategy, periods, z) + np.cumsum(x, axis=0))


@pytest.mark.parametrize("horizon", [4097, 4099, 8099, 65_535, 65_536, 2**20 - 1, 2**20])
def test_blocks_cover_every_horizon_within_the_longest_block(horizon: int) -> None:
    block = block_length(horizon)
    assert 2 <= block <= 1025
    assert -(-horizon // block) <= 1024


def test_the_share_of_the_weight_is_the_best() -> None:
    outer, inner = (
        NestedWindows(11, best_layers(11, False), 2**20),
        NestedWindows(12, best_layers(12, True), 2**20),
    )
    share = best_outer_share(BlockLevels.of(outer, inner), 127)

    def error(share: float) -> float:
        weight = round(share * 2**20)
        shared = Nested(
            NestedWindows(11, outer.layers, weight), NestedWindows(12, inner.layers, 2**20 - weight)
        )
        return float(shared.energies(np.arange(1, 128)).sum())

    assert error(share) < min(error(share - 0.01), error(share + 0.01))


@pytest.mark.parametrize(("strategy", "periods"), NESTED)
def test_energies_and_fourth_powers_are_those_of_the_best_share_of_the_contradiction(
    strategy: Nested, periods: int
) -> None:
    """Coefficients by pseudo-inverses: what the contradiction, added to the count, explains is taken off."""
    levels = []
    for level in (strategy.outer, strategy.inner):
        best = np.tri(level.periods) @ np.linalg.pinv(dense(level).astype(float))
        levels.append(np.vstack([np.zeros(best.shape[1]), best]))
    outer, inner = levels
    coefficients = []
    for block, place in zip(*np.divmod(np.arange(periods), strategy.inner.periods), strict=True):
        count = np.concatenate([outer[block], inner[place + 1]])
        contradiction = np.concatenate([outer[block + 1] - outer[block], -inner[-1]])
        coefficients.append(count - contradiction * (count @ contradiction) / (contradiction @ contradiction))
    expected = np.array(coefficients)
    at = np.arange(1, periods + 1)
    np.testing.assert_allclose(strategy.energies(at), (expected**2).sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(strategy.fourth_powers(at), (expected**4).sum(axis=1), rtol=1e-8)


@pytest.mark.slow
def test_the_noise_has_the_stated_variances() -> None:
    """20,000 streams side by side; a false alarm has probability below 1e-6 (6 standard errors, 127 periods)."""
    strategy, periods = NESTED[0]
    lanes = 20_000
    law, noise = DiscreteLaplace(Fraction(strategy.column.l1)), repeatable_noise("nested")

    def draw(answers: int) -> np.ndarray:
        return noise.draw(law, answers * lanes).reshape(answers, lanes)

    numbers = strategy.begin(draw)
    stated = law.variance * strategy.energies(np.arange(1, periods + 1)) + ROUNDING_VARIANCE
    for period in range(1, periods + 1):
        counts, numbers = strategy.step(period, numbers, draw)
        # The excess kurtosis of a weighted sum of Laplace noise is at most 3.
        assert (counts.astype(float) ** 2).mean() == pytest.approx(
            stated[period - 1], rel=6 * (5 / lanes) ** 0.5
        )


@pytest.mark.parametrize("horizon", [1, 11, 12, 13, 24, 127, 131, 132])
def test_the_mean_energy_is_the_mean_of_the_energies(horizon: int) -> None:
    strategy, _ = NESTED[0]
    energies = strategy.energies(np.arange(1, horizon + 1))
    assert strategy.mean_energy(horizon) == pytest.approx(energies.mean())


def test_without_noise_the_counts_are_exact() -> None:
    increments = np.arange(4200, dtype=np.int64).reshape(-1, 1)
    counts = publish(MECHANISM, plan_for(4200), increments, NoNoise())
    np.testing.assert_array_equal(counts, np.cumsum(increments, axis=0))


def test_a_state_that_is_stored_between_periods_makes_no_difference() -> None:
    plan = MECHANISM.plan(StreamRequest(4100, 2), epsilon("0.5"))
    increments = np.ones((200, 2), dtype=np.int64)
    kept = publish(MECHANISM, plan, increments, repeatable_noise("kept"))
    stored = publish(MECHANISM, plan, increments, repeatable_noise("kept"), stored=True)
    np.testing.assert_array_equal(kept, stored)


@pytest.mark.slow
def test_a_million_periods_leave_a_small_state() -> None:
    state = MECHANISM.open(plan_for(2**20), repeatable_noise("long"))
    assert len(state.to_bytes()) < 50_000
