"""The reach of weighted sums: against closed forms, exact sums on the integers, and draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.noise.sum_quantiles import PlainSum
from mechanisms.noise.weighted_sum import weighted_half_width

WIDE = DiscreteLaplace(Fraction(100_000))


def test_one_noise_reaches_as_far_as_a_laplace() -> None:
    assert weighted_half_width(WIDE, (0.5, 0.0)) == pytest.approx(50_000 * math.log(20), rel=1e-3)


@pytest.mark.parametrize("times", [1, 7])
def test_equal_weights_reach_as_far_as_the_exact_sum(times: int) -> None:
    exact = PlainSum(WIDE, 3 * times).half_width()
    assert weighted_half_width(WIDE, (1.0, 1.0, 1.0), times) == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2, 3000])
@pytest.mark.parametrize("weights", [(1.0, -0.25), (-0.5, 0.0, 0.5), (0.3, -0.2, 0.7), (1.0, 1 / 64, 0.5)])
def test_drawn_sums_stay_within_it(weights: tuple[float, ...], scale: int) -> None:
    """200,000 draws: a true 95 % falls below 0.9484 with a chance of 5e-4."""
    law = DiscreteLaplace(Fraction(scale))
    drawn = Noise(np.random.default_rng(2).bytes).draw(law, 200_000 * len(weights))
    sums = np.abs(drawn.reshape(-1, len(weights)) @ np.array(weights))
    inside = float((sums <= weighted_half_width(law, weights)).mean())
    assert inside >= 0.9484
    assert scale < 10 or inside <= 0.952


def test_gaussian_noises_reach_as_far_as_one_of_their_norm() -> None:
    law = DiscreteGaussian(Fraction(10**8))
    assert weighted_half_width(law, (3.0, 4.0), 4) == pytest.approx(1.959964 * 5 * 2 * 10**4, rel=1e-3)


def test_nothing_reaches_nowhere() -> None:
    assert weighted_half_width(WIDE, (0.0, 0.0)) == 0.0
