from __future__ import annotations

from fractions import Fraction

import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import count_law
from mechanisms.histogram.spending import (
    Stage,
    laplace_law,
    pure_epsilon,
    rational_shares,
    share_of,
    stages_to_json,
)
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

EPSILON = Loss(Definition.PURE, Fraction(1, 10))
RHO = Loss(Definition.ZCDP, Fraction(1, 2))


def test_counts_under_a_pure_loss_get_laplace_noise() -> None:
    assert count_law(EPSILON, Sensitivity(2, 2)) == DiscreteLaplace(Fraction(20))


def test_counts_under_zcdp_get_gaussian_noise() -> None:
    # Δ₂²/(2ρ) = 2/(2·½).
    assert count_law(RHO, Sensitivity(2, 2)) == DiscreteGaussian(Fraction(2))


def test_ten_tenths_are_the_whole_loss() -> None:
    assert sum(share_of(EPSILON, Fraction(1, 10)).amount for _ in range(10)) == EPSILON.amount


def test_a_pure_stage_within_zcdp_costs_half_its_square() -> None:
    assert pure_epsilon(RHO) == 1


def test_irrational_shares_sum_to_one_exactly() -> None:
    shares = rational_shares([2 ** (level / 3) for level in range(11)])
    assert sum(shares) == 1
    assert float(shares[3] / shares[0]) == pytest.approx(2, rel=1e-5)


def test_stages_that_cost_more_than_the_loss_are_refused() -> None:
    stage = Stage("rows", Fraction(1, 3), DiscreteLaplace(Fraction(1)), times=4)
    with pytest.raises(ValueError, match="cost 4/3 of the loss"):
        stages_to_json([stage])


def test_noise_of_more_than_a_billion_rows_is_refused() -> None:
    with pytest.raises(PlanError, match="too small"):
        laplace_law(EPSILON, Fraction(10**9 + 1))


def test_a_loss_too_small_for_a_pure_stage_is_refused() -> None:
    with pytest.raises(PlanError, match="too small"):
        pure_epsilon(Loss(Definition.ZCDP, Fraction(1, 10**30)))
