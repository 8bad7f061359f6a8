from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from mechanisms.noise import DiscreteLaplace
from mechanisms.selection.odds import exponential, noisy_max, permute_and_flip

Odds = Callable[[float, np.ndarray], np.ndarray]
EVERY = [exponential, permute_and_flip, noisy_max]


def _by_every_order(rate: float, gaps: np.ndarray) -> np.ndarray:
    """Permute-and-flip over all orders: stop at the first head."""
    heads = np.exp(-rate * gaps)
    chances = np.zeros(gaps.size)
    for order in itertools.permutations(range(gaps.size)):
        still = 1.0
        for r in order:
            chances[r] += still * heads[r]
            still *= 1 - heads[r]
    return chances / math.factorial(gaps.size)


@pytest.mark.parametrize("gaps", [[0, 1, 2], [0, 0, 3, 5, 40], [2, 0, 0, 1, 7, 3]])
def test_permute_and_flip_agrees_with_every_order(gaps: list[int]) -> None:
    assert permute_and_flip(0.7, np.array(gaps)) == pytest.approx(
        _by_every_order(0.7, np.array(gaps)), abs=1e-14
    )


def _by_every_noise(scale: int, gaps: np.ndarray) -> np.ndarray:
    """Noisy max of three candidates over every three noises within ± 60."""
    law = DiscreteLaplace(scale)  # type: ignore[arg-type]
    z = np.arange(-60, 61)
    p = np.array([law.probability(int(k)) for k in z])
    a, b, c = np.meshgrid(*(z - gap for gap in gaps), indexing="ij")
    weight = p[:, None, None] * p[:, None] * p
    noisy = np.stack([a, b, c])
    best = noisy == noisy.max(axis=0)
    return (best / best.sum(axis=0) * weight).sum(axis=(1, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [[0, 1, 2], [0, 0, 5], [3, 0, 1]])
def test_noisy_max_agrees_with_every_noise(gaps: list[int]) -> None:
    assert noisy_max(0.5, np.array(gaps)) == pytest.approx(_by_every_noise(2, np.array(gaps)), abs=1e-10)


def test_noisy_max_of_wide_noise_agrees_with_the_continuous_law() -> None:
    # For two candidates with continuous Laplace noise of scale 1, P(the worse wins) = e^-g (2 + g)/4.
    gap = 3
    worse = noisy_max(1 / 1000, np.array([0, 1000 * gap]))[1]
    assert worse == pytest.approx(math.exp(-gap) * (2 + gap) / 4, abs=1e-4)


@pytest.mark.parametrize("odds", EVERY)
@pytest.mark.parametrize("candidates", [2, 201, 3000])
def test_equal_scores_have_equal_chances(odds: Odds, candidates: int) -> None:
    chances = odds(0.3, np.zeros(candidates, dtype=np.int64))
    assert chances == pytest.approx(np.full(candidates, 1 / candidates), rel=1e-9)


@pytest.mark.parametrize("odds", EVERY)
def test_a_far_better_candidate_always_wins(odds: Odds) -> None:
    assert odds(1.0, np.array([0, 10**12])).tolist() == [1, 0]


def test_permute_and_flip_never_does_worse_than_the_exponential_mechanism() -> None:
    vectors = [np.array([0, *rest]) for rest in itertools.product(range(6), repeat=3)]
    assert all(permute_and_flip(0.8, g) @ g <= exponential(0.8, g) @ g + 1e-12 for g in vectors)
