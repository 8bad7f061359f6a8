"""Numbers that no table could have are found, and honest ones are not: at any cost, and with any method."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Loss, Neighbours, PrivacyUnit
from mechanisms.continual.mechanism import StreamMechanism, StreamRequest
from mechanisms.domain import Domain, Integer
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.noise.extremes import farthest, farthest_sum
from mechanisms.noise.laws import NoiseLaw
from mechanisms.protocol import Mechanism, NoisySums
from mechanisms.refusal import RefusalError
from mechanisms.verify import extremes

LAWS = [
    *(DiscreteLaplace(Fraction(scale)) for scale in ("1/50", "1/3", "1", "7", "1000", "1000000")),
    *(DiscreteGaussian(Fraction(variance)) for variance in ("1/50", "1/3", "1", "50", "1000000")),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("surprise", [1.0, 5.0, 12.0])
def test_noise_goes_farther_as_rarely_as_is_said(law: NoiseLaw, surprise: float) -> None:
    """Against the law's own tail, which is exact: of both sides, so half of it."""
    beyond = math.floor(farthest(law, surprise))
    assert float(law.tail(np.array(beyond))) / 2 <= math.exp(-surprise) * (1 + 1e-9)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("weights", [(1,), (1, 1, 1, 1), (5, 1), (0.25,) * 16, (9, 0.1, 0.1)])
def test_sums_of_noise_go_farther_as_rarely_as_is_said(law: NoiseLaw, weights: tuple[float, ...]) -> None:
    """In 200,000 draws, at a chance of 1 in 1,000: at most 260, which as many as 200 expected exceed once in 30,000."""
    noise, draws = Noise(np.random.default_rng(5).bytes), 200_000
    sums = sum(weight * noise.draw(law, draws) for weight in weights)
    reach = farthest_sum(law, math.log(1000)) * math.hypot(*weights)
    assert (np.asarray(sums) > reach).sum() <= 260


def test_the_bound_of_sums_is_near_the_exact_one_of_a_single_noise() -> None:
    law = DiscreteLaplace(Fraction(10))
    assert farthest(law, 30.0) <= farthest_sum(law, 30.0) <= 1.3 * farthest(law, 30.0)


def plans(method: Mechanism, total: bool) -> list:
    domain = Domain((Integer("age", lower=0, upper=63, width=1), Integer("year", lower=0, upper=3, width=1)))
    unit = PrivacyUnit(Neighbours.REPLACE_ONE if total else Neighbours.ADD_REMOVE)
    found = []
    for definition in sorted(method.definitions, key=str):
        for amount in ("1/1000", "1/10", "1", "30"):
            try:
                given = {"total": 500} if total else {}
                found.append(method.plan(domain, given, Loss(definition, Fraction(amount), unit)))
            except RefusalError:
                continue
    return found


def beyond(part: NoisySums, rows: int | None, surprise: float) -> int:
    low, high = extremes._ends(part, rows)
    far = np.maximum(low - part.values, part.values - high)
    return int((far > farthest(part.law, surprise)).sum())


@pytest.mark.parametrize("total", [False, True], ids=["private", "public"])
@pytest.mark.parametrize("method", registry.HISTOGRAMS, ids=lambda method: method.name)
def test_honest_histograms_are_no_farther_than_chance_allows(method: Mechanism, total: bool) -> None:
    """At a chance of 1 % for each number on each side: of all, no more than six standard errors above 2 %."""
    counts = np.zeros(256, dtype=np.int64)
    counts[:5] = 100
    surprise = math.log(100)
    for plan in plans(method, total):
        looked_at = found = 0
        for seed in range(6):
            values = method.measure(plan, counts, Noise(np.random.default_rng(seed).bytes)).values
            parts = method.noisy_sums(plan, values)
            assert parts or type(method).noisy_sums is Mechanism.noisy_sums
            looked_at += sum(part.values.size for part in parts)
            found += sum(beyond(part, 500 if total else None, surprise) for part in parts)
        assert found <= 0.02 * looked_at + 6 * math.sqrt(0.02 * looked_at)


@pytest.mark.parametrize("method", registry.HISTOGRAMS, ids=lambda method: method.name)
def test_each_count_that_no_table_could_have_is_told(method: Mechanism) -> None:
    plan = plans(method, False)[0]
    counts = np.full(256, 3, dtype=np.int64)
    values = method.measure(plan, counts, Noise(np.random.default_rng(1).bytes)).values
    for part in method.noisy_sums(plan, values):
        if np.all(np.asarray(part.least) >= 0):
            moved = dataclasses.replace(part, values=part.values - np.int64(2**50))
            assert beyond(moved, None, 60.0) == moved.values.size


@pytest.mark.parametrize("method", registry.STREAMS, ids=lambda method: method.name)
def test_honest_running_counts_are_no_farther_below_0_than_chance_allows(method: StreamMechanism) -> None:
    """Of streams to which nobody is added, at a chance of 1 %: at most 3 % of numbers that share their noise."""
    periods, looked_at, found = 24, 0, 0
    for definition in sorted(method.definitions, key=str):
        for amount in ("1/1000", "1", "30"):
            loss = Loss(definition, Fraction(amount), PrivacyUnit(Neighbours.ADD_REMOVE))
            plan = method.plan(StreamRequest(None if method.endless else periods, series=40), loss)
            noise = Noise(np.random.default_rng(3).bytes)
            state, counts = method.open(plan, noise), []
            for _ in range(periods):
                released, state = method.advance(plan, state, np.zeros(40, dtype=np.int64), noise)
                counts.append(released)
            below = extremes.too_low(plan, np.stack(counts), math.log(100))
            looked_at, found = looked_at + below.size, found + int(below.sum())
            far = np.stack(counts) - 10**15
            assert extremes.too_low(plan, far, 60.0)[0].all()
    assert found <= 0.03 * looked_at
