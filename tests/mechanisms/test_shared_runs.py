"""Runs that share calls: each outcome has its exact probability, and whatever only seems to add noise is found out."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.noise import DiscreteLaplace, Noise
from tests.mechanisms.audit import Measure
from tests.mechanisms.shared_runs import shared

LAW = DiscreteLaplace(Fraction(1))
RUNS = 200_000
COUNTS = np.array([3, 1])


def steps(counts: np.ndarray, noise: Noise) -> np.ndarray:
    """Adds noise to the counts together if their noisy sum is above 4, else to each."""
    if counts.sum() + noise.draw(LAW, 1)[0] > 4:
        return np.concatenate([[1], counts.sum(keepdims=True) + noise.draw(LAW, 1)])
    return np.concatenate([[0], counts + noise.draw(LAW, 2)])


def sampled(measure: Measure, runs: int = RUNS) -> tuple[Counter[tuple[int, ...]], int]:
    """How often each outcome came about, and how many calls that took."""
    calls = 0

    def counted(counts: np.ndarray, noise: Noise) -> np.ndarray:
        nonlocal calls
        calls += 1
        return measure(counts, noise)

    rows = shared(counted)(COUNTS, runs, Noise(np.random.default_rng(1).bytes))
    return Counter(tuple(row[1 : 1 + row[0]].tolist()) for row in rows), calls


def near(hits: int, probability: float) -> bool:
    """Within 6 standard errors: false alarms below 2e-9 each."""
    return abs(hits - RUNS * probability) < 6 * math.sqrt(RUNS * probability)


@pytest.mark.slow
def test_outcomes_have_their_exact_probabilities() -> None:
    found, calls = sampled(steps)
    above = (1 - LAW.probability(0)) / 2
    for noise in range(-3, 4):
        assert near(found[1, 4 + noise], above * LAW.probability(noise))
        both = LAW.probability(noise) * LAW.probability(1)
        assert near(found[0, 3 + noise, 2], (1 - above) * both)
    assert sum(found.values()) == RUNS
    assert calls < 500


@pytest.mark.slow
def test_choices_have_their_exact_probabilities() -> None:
    def chooses(counts: np.ndarray, noise: Noise) -> np.ndarray:
        order = noise.permutation(2)
        return order[noise.bernoulli_exp(Fraction(1), 3 - counts[order]).argmax()][None]

    # First the better one, whose coin always falls heads, or the other one, whose coin falls so with e^-2.
    found, calls = sampled(chooses)
    assert near(found[1,], math.exp(-2) / 2)
    assert near(found[0,], 1 - math.exp(-2) / 2)
    assert calls < 20


def test_noise_that_is_cut_off_is_not_taken_for_noise_that_is_added() -> None:
    found, _ = sampled(lambda counts, noise: np.maximum(counts + noise.draw(LAW, 2), 3))
    assert min(min(outcome) for outcome in found) == 3
    assert near(sum(h for (first, _), h in found.items() if first == 3), (1 + LAW.probability(0)) / 2)


@pytest.mark.slow
def test_no_two_runs_share_what_they_drew() -> None:
    """The numbers of different runs at one point are independent: neighbours differ as often as they should."""
    rows = shared(steps)(COUNTS, RUNS, Noise(np.random.default_rng(2).bytes))
    last = rows[rows[:, 1] == 1, 2]
    alike = sum(LAW.probability(k) ** 2 for k in range(-60, 61))
    same = int((last[1:] == last[:-1]).sum())
    assert abs(same - last.size * alike) < 6 * math.sqrt(last.size * alike)
