from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from mechanisms.accounting import (
    Definition,
    Loss,
    Neighbours,
    PrivacyUnit,
    chance_factor,
    posterior,
    pure_within_zcdp,
    zcdp_loss_bound,
    zcdp_to_epsilon,
)
from mechanisms.domain import Boolean, Domain
from mechanisms.noise import DiscreteLaplace
from tests.mechanisms.neighbours import UNITS, name

KNOWN = json.loads((Path(__file__).parents[1] / "data" / "known_answers.json").read_text())


def test_the_largest_epsilon_within_rho_one_half_is_one() -> None:
    assert pure_within_zcdp(Fraction(1, 2)) == 1


@pytest.mark.parametrize("rho", ["0.001", "0.1", "1", "3.7"])
def test_the_epsilon_within_rho_is_the_largest_of_nine_decimals(rho: str) -> None:
    epsilon, step = pure_within_zcdp(Fraction(rho)), Fraction(1, 10**9)
    assert epsilon**2 / 2 <= Fraction(rho) < (epsilon + step) ** 2 / 2


@pytest.mark.parametrize("rho", [0, -1])
def test_rho_is_positive(rho: int) -> None:
    with pytest.raises(ValueError, match="rho must be positive"):
        pure_within_zcdp(Fraction(rho))


def test_a_rho_below_the_decimal_places_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        pure_within_zcdp(Fraction(1, 10**20))


def _kullback_leibler(epsilon: float) -> float:
    """Of discrete Laplace noise of scale 1/ε on counts that differ by 1, summed over 8,001 integers."""
    law = DiscreteLaplace(1 / Fraction(epsilon))
    k = range(-4000, 4001)
    return math.fsum(law.probability(i) * epsilon * (abs(i - 1) - abs(i)) for i in k)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_constant_of_continuous_laplace_is_too_small_for_discrete_noise(epsilon: float) -> None:
    # ρ-zCDP needs a Kullback-Leibler divergence of at most ρ.
    assert _kullback_leibler(epsilon) > epsilon + math.exp(-epsilon) - 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_discrete_laplace_stays_within_half_epsilon_squared(epsilon: float) -> None:
    divergence = _kullback_leibler(epsilon)
    assert divergence == pytest.approx(epsilon * math.tanh(epsilon / 2))
    assert divergence < epsilon**2 / 2


def test_zcdp_to_epsilon_is_the_tight_bound() -> None:
    assert zcdp_to_epsilon(0.5, 1e-5) == pytest.approx(KNOWN["zcdp_to_dp_rho.5_delta1e-5"]["tight"], abs=1e-6)


def test_zcdp_to_epsilon_is_below_the_simple_bound() -> None:
    simple = KNOWN["zcdp_to_dp_rho.5_delta1e-5"]["simple"]
    assert 0.5 + 2 * math.sqrt(0.5 * math.log(1e5)) == pytest.approx(simple)
    assert zcdp_to_epsilon(0.5, 1e-5) < simple


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (0.1, 1e-5), (0.5, 1e-9), (2.0, 1e-5)])
def test_zcdp_to_epsilon_agrees_with_the_renyi_accountant(rho: float, delta: float) -> None:
    import dp_accounting

    orders = (1 + np.geomspace(1e-3, 1e3, 4000)).tolist()
    accountant = dp_accounting.rdp.RdpAccountant(orders=orders)
    accountant.compose(dp_accounting.ZCDpEvent(rho=rho))
    assert zcdp_to_epsilon(rho, delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-5)


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (0.5, 1e-5), (2.0, 1e-5), (50.0, 1e-6)])
def test_whole_orders_give_what_the_renyi_accountant_makes_of_them(rho: float, delta: float) -> None:
    import dp_accounting

    accountant = dp_accounting.rdp.RdpAccountant(orders=list(range(2, 5000)))
    accountant.compose(dp_accounting.ZCDpEvent(rho=rho))
    epsilon = zcdp_to_epsilon(rho, delta, whole_orders=True)
    assert epsilon == pytest.approx(accountant.get_epsilon(delta), rel=1e-9)
    assert epsilon > zcdp_to_epsilon(rho, delta)


@pytest.mark.parametrize(("rho", "delta"), [(0, 1e-5), (1, 0), (1, 1)])
def test_zcdp_to_epsilon_refuses_what_is_no_budget(rho: float, delta: float) -> None:
    with pytest.raises(ValueError, match="needs rho > 0"):
        zcdp_to_epsilon(rho, delta)


def test_epsilon_ln_2_doubles_the_odds() -> None:
    assert chance_factor(math.log(2)) == pytest.approx(2)


def test_json_brings_a_loss_back() -> None:
    loss = Loss(Definition.ZCDP, Fraction("0.1"), PrivacyUnit(Neighbours.REPLACE_ONE, 3))
    assert Loss.from_json(json.loads(json.dumps(loss.to_json()))) == loss


def test_the_number_of_rows_is_public_only_where_everybody_has_exactly_one() -> None:
    public = PrivacyUnit(Neighbours.REPLACE_ONE)
    assert [unit for unit in UNITS if unit.total_public] == [public]
    assert not public.allowing_absence(possible=True).total_public
    assert public.allowing_absence(possible=False) == public


@pytest.mark.parametrize("unit", [u for u in UNITS if not u.total_public], ids=name)
def test_absence_changes_only_a_public_number_of_rows(unit: PrivacyUnit) -> None:
    assert unit.allowing_absence(possible=True) == unit


def test_a_domain_that_leaves_rows_out_lets_people_be_absent() -> None:
    loss = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE))
    closed, sent, opened = Boolean("a", closed=True), Boolean("b", closed=True, misfits_to=0), Boolean("c")
    assert not loss.for_domain(Domain((opened, closed))).unit.total_public
    assert loss.for_domain(Domain((opened, sent))) == loss


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_json_tells_of_absence_only_where_it_is_possible(unit: PrivacyUnit) -> None:
    loss = Loss(Definition.PURE, Fraction(1), unit)
    written = json.loads(json.dumps(loss.to_json()))
    assert ("may_be_absent" in written) == unit.may_be_absent
    assert Loss.from_json(written) == loss


def test_a_loss_is_positive() -> None:
    with pytest.raises(ValueError, match="must be positive, got ε = 0"):
        Loss(Definition.PURE, Fraction(0))


def test_a_person_has_at_least_one_row() -> None:
    with pytest.raises(ValueError, match="max_rows must be at least 1, got 0"):
        PrivacyUnit(max_rows=0)


@pytest.mark.parametrize("rho", [0.005, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_the_loss_of_gaussian_noise_exceeds_its_bound_with_less_chance_than_delta(
    rho: float, delta: float
) -> None:
    """Of Gaussian noise the loss is normal with mean ρ and variance 2ρ, exactly."""
    bound = zcdp_loss_bound(rho, delta)
    chance = float(norm.sf((bound - rho) / math.sqrt(2 * rho)))
    assert chance < delta and bound >= zcdp_to_epsilon(rho, delta)
    # By all orders it would be ρ + 2√(ρ ln(1/δ)); whole ones lose little.
    best = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert best <= bound * (1 + 1e-12) and bound < 1.5 * best


def test_a_suspicion_grows_as_bayes_rule_says() -> None:
    for prior, epsilon in ((0.1, 1.0), (0.5, 0.1), (0.01, 3.0)):
        weight = prior * math.exp(epsilon)
        assert posterior(prior, epsilon) == pytest.approx(weight / (weight + 1 - prior))
    assert 0.23 < posterior(0.1, 1.0) < 0.24  # "a 10 % suspicion becomes at most 24 %"
    assert posterior(0.1, 1000.0) == 1
