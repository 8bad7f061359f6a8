"""What a period adds to the published count: its variance against dense algebra, and its interval against many draws.

`test_strategies` holds the strategies of sums over blocks against their matrices; here are the others.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual.block_tree import Nested
from mechanisms.continual.buffered import PARAMETER_BITS
from mechanisms.continual.buffered_stream import BufferedToeplitzStream
from mechanisms.continual.gaussian_optimum import OptimalTriangle
from mechanisms.continual.mechanism import StreamMechanism, StreamRequest
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.toeplitz import RootToeplitz
from mechanisms.continual.windows import best_layers
from tests.mechanisms.continual.lanes import publish, repeatable_noise
from tests.mechanisms.continual.running import Answers

GRID = 2**20
# Three streams' lengths: a block that ends with the stream, one that does not, and one block alone.
NESTED = Nested(NestedWindows(4, (), GRID // 3), NestedWindows(12, best_layers(12, True), GRID - GRID // 3))
CASES: list[tuple[str, StreamStrategy, int]] = [
    ("windows of 9", NestedWindows(9, best_layers(9, False), GRID), 9),
    ("windows of 140 in two layers", NestedWindows(140, best_layers(140, False), GRID), 140),
    ("four blocks of 12", NESTED, 48),
    ("four blocks, cut off", NESTED, 41),
    ("square-root weights", RootToeplitz(50, GRID // 2), 50),
    ("the optimum", OptimalTriangle(30, GRID), 30),
]
STRONG = 2**38


def coefficients(strategy: StreamStrategy, periods: int) -> np.ndarray:
    """B, (periods, answers): what a unit of each answer's noise does to each published count."""
    answers = Answers(strategy)
    many = np.zeros(4 * periods + 1000, dtype=np.int64)
    answers.noise_of(many, periods)
    units = STRONG * np.eye(answers.asked, dtype=np.int64)
    return np.stack([answers.noise_of(unit, periods) / STRONG for unit in units], axis=1)


@pytest.mark.parametrize(("strategy", "periods"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_energies_are_those_of_neighbouring_rows(strategy: StreamStrategy, periods: int) -> None:
    B, each = coefficients(strategy, periods), np.arange(1, periods + 1)
    covariance = B @ B.T
    before = np.pad(np.diag(covariance), (1, 0))[:-1]
    wanted = np.diag(covariance) + before - 2 * np.append(0.0, np.diag(covariance, -1))
    assert strategy.energies(each) == pytest.approx(np.diag(covariance), rel=2e-5)
    assert strategy.increment_energies(each) == pytest.approx(wanted, rel=2e-5)
    fourth = (np.diff(B, axis=0, prepend=0.0) ** 4).sum(axis=1)
    assert np.all(strategy.increment_fourth_powers(each) >= fourth * (1 - 1e-4))


def test_buffers_forget_as_their_matrix_says() -> None:
    """A from the buffers' own numbers; the estimates of the increments are A^-1 of the noise."""
    mechanism = BufferedToeplitzStream()
    plan = mechanism.plan(StreamRequest(40), Loss(Definition.ZCDP, Fraction(1)))
    strategy, ages = mechanism.strategy(plan), np.arange(39)
    theta, omega = (np.array(x) / 2.0**PARAMETER_BITS for x in (strategy.decays, strategy.weights))
    column = strategy.head * np.append(1.0, (omega * theta ** ages[:, None]).sum(axis=1))
    A = np.array([[column[t - k] if k <= t else 0.0 for k in range(40)] for t in range(40)])
    wanted = (np.linalg.inv(A) ** 2).sum(axis=1)
    assert strategy.increment_energies(np.arange(1, 41)) == pytest.approx(wanted, rel=1e-9)


CHOICES = [(m, d) for m in registry.STREAMS for d in sorted(m.definitions)]


@pytest.mark.parametrize(("mechanism", "definition"), CHOICES, ids=[f"{m.name} {d}" for m, d in CHOICES])
def test_increments_are_off_by_what_is_stated(mechanism: StreamMechanism, definition: Definition) -> None:
    """Variance and coverage of every period over many streams; 6.5 standard errors, probability below 1e-10."""
    lanes, periods = 300 if mechanism.name == "buffered-toeplitz" else 6_000, np.arange(1, 10)
    horizon = None if getattr(mechanism, "endless", False) else 9
    plan = mechanism.plan(StreamRequest(horizon, lanes), Loss(definition, Fraction(1, 4)))
    nothing = np.zeros((9, lanes), dtype=np.int64)
    counts = publish(mechanism, plan, nothing, repeatable_noise("increments"))
    errors = np.diff(counts, axis=0, prepend=0)
    variances = mechanism.increment_variances(plan, periods)
    assert (errors**2).mean(axis=1) == pytest.approx(variances, rel=6.5 * math.sqrt(5.6 / lanes))
    inside = (np.abs(errors) <= mechanism.increment_half_widths(plan, periods)[:, None]).mean(axis=1)
    assert np.all(inside >= 0.95 - 6.5 * math.sqrt(0.95 * 0.05 / lanes))


@pytest.mark.parametrize("mechanism", registry.STREAMS, ids=lambda m: str(m.name))
def test_intervals_are_hardly_wider_than_they_need_be(mechanism: StreamMechanism) -> None:
    plan = mechanism.plan(StreamRequest(24), Loss(sorted(mechanism.definitions)[0], Fraction(1, 4)))
    periods = np.arange(1, 25)
    widths = mechanism.increment_half_widths(plan, periods)
    assert np.all(widths <= 2.17 * np.sqrt(mechanism.increment_variances(plan, periods)) + 1)


def test_adding_the_variances_of_both_counts_would_be_wrong_by_far() -> None:
    """After 1,000 periods of noisy increments: 1 noise, where the two counts have 1,999."""
    mechanism = registry.stream("naive-increments")
    plan = mechanism.plan(StreamRequest(1000), Loss(Definition.PURE, Fraction(1)))
    both = mechanism.variances(plan, np.array([999, 1000])).sum()
    assert both / mechanism.increment_variances(plan, np.array([1000]))[0] == pytest.approx(1999)


def test_the_first_increment_is_the_first_count() -> None:
    for mechanism, definition in CHOICES:
        plan = mechanism.plan(StreamRequest(20), Loss(definition, Fraction(1)))
        first = np.array([1])
        assert mechanism.increment_variances(plan, first) == pytest.approx(mechanism.variances(plan, first))
        assert mechanism.increment_half_widths(plan, first) == mechanism.half_widths(plan, first)


@pytest.mark.parametrize(("mechanism", "definition"), CHOICES, ids=[f"{m.name} {d}" for m, d in CHOICES])
def test_the_sum_of_several_running_counts_is_off_by_what_is_stated(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    """Coverage of sums of 3 counts and of their increments; 6.5 standard errors. And no more than is needed."""
    sums, periods = 100 if mechanism.name == "buffered-toeplitz" else 2_000, np.arange(1, 10)
    horizon = None if getattr(mechanism, "endless", False) else 9
    plan = mechanism.plan(StreamRequest(horizon, 3 * sums), Loss(definition, Fraction(1, 4)))
    nothing = np.zeros((9, 3 * sums), dtype=np.int64)
    counts = (
        publish(mechanism, plan, nothing, repeatable_noise("sums of counts")).reshape(9, sums, 3).sum(axis=2)
    )
    added = np.diff(counts, axis=0, prepend=0)
    for errors, widths, variances in (
        (counts, mechanism.half_widths(plan, periods, 3), mechanism.variances(plan, periods)),
        (
            added,
            mechanism.increment_half_widths(plan, periods, 3),
            mechanism.increment_variances(plan, periods),
        ),
    ):
        inside = (np.abs(errors) <= widths[:, None]).mean(axis=1)
        assert np.all(inside >= 0.95 - 6.5 * math.sqrt(0.95 * 0.05 / sums))
        assert np.all(widths <= 2.17 * np.sqrt(3 * variances) + 3)
