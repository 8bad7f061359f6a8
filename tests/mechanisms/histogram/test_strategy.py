"""Hierarchical and wavelet histograms: noise, expected error against simulation, intervals, refusals."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.histogram.combination import Combination
from mechanisms.histogram.hierarchical import HierarchicalHistogram
from mechanisms.histogram.privelet import PriveletHistogram
from mechanisms.histogram.strategy import (
    StrategyHistogram,
    strategy_sensitivity,
)
from mechanisms.linear.dyadic import range_energies
from mechanisms.linear.tree import Tree
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.protocol import Measurement, Plan, PlanError

DOMAIN = Domain((Integer("age", lower=0, upper=49),))
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)
MECHANISMS = [HierarchicalHistogram(), PriveletHistogram()]
BOTH = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
RUNS = 2000


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def zcdp(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.ZCDP, Fraction(amount), unit)


@BOTH
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(max_rows=3), REPLACE], ids=str)
def test_laplace_noise_has_scale_sensitivity_over_epsilon(
    mechanism: StrategyHistogram, unit: PrivacyUnit
) -> None:
    plan = mechanism.plan(DOMAIN, {}, pure("0.1", unit))
    assert plan.noise == DiscreteLaplace(10 * Fraction(plan.sensitivity.l1))


@BOTH
def test_gaussian_noise_has_variance_sensitivity_squared_over_two_rho(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {}, zcdp("0.005"))
    assert plan.noise == DiscreteGaussian(100 * Fraction(plan.sensitivity.l2_squared))


def test_several_rows_multiply_the_sensitivity() -> None:
    # One column of the tree holds 3 and 1; two of its columns part at the cells alone.
    tree = Tree((3, 1))
    assert strategy_sensitivity(PrivacyUnit(max_rows=2), tree).l1 == 2 * 4
    assert strategy_sensitivity(PrivacyUnit(max_rows=2), tree).l2_squared == 4 * 10
    assert strategy_sensitivity(REPLACE, tree).l1 == 6
    assert strategy_sensitivity(REPLACE, tree).l2_squared == 18


@cache
def simulated(mechanism: StrategyHistogram, definition: Definition) -> tuple[Plan, np.ndarray]:
    """A plan for ranges, and the errors of its 50 estimates in 2,000 runs."""
    plan = mechanism.plan(DOMAIN, {"purpose": "ranges"}, Loss(definition, Fraction(1, 4)))
    strategy, counts = mechanism.strategy(plan), np.arange(50)
    noise = Noise(np.random.default_rng(3).bytes)
    runs = (mechanism.measure(plan, counts, noise).values for _ in range(RUNS))
    return plan, np.stack([strategy.estimate(values)[:50] for values in runs]) - counts


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("definition", list(Definition))
def test_simulated_errors_are_the_expected_ones(mechanism: StrategyHistogram, definition: Definition) -> None:
    """Mean squares of 2,000 runs lie within 6 standard errors of the formula.

    The squared error of an answer has kurtosis at most that of Laplace noise, 6, so its standard error is
    at most √(5/2000) of its mean; by the normal law 6 of them are passed with probability 2e-9, 6 checks 2e-8.
    """
    plan, errors = simulated(mechanism, definition)
    strategy = mechanism.strategy(plan)
    prefixes = np.concatenate([np.zeros((RUNS, 1)), np.cumsum(errors, axis=1)], axis=1)
    for start, stop in [(0, 1), (17, 18), (0, 50), (3, 40), (10, 20), (0, 33)]:
        energies = zip(range_energies(start, stop, strategy.scales), strategy.eigenvalues, strict=True)
        expected = plan.noise.variance * sum(energy / value for energy, value in energies)
        observed = np.mean((prefixes[:, stop] - prefixes[:, start]) ** 2)
        assert abs(observed / expected - 1) < 6 * math.sqrt(5 / RUNS)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("definition", list(Definition))
def test_the_interval_holds_its_coverage(mechanism: StrategyHistogram, definition: Definition) -> None:
    """Of 2,000 runs, the hits of one cell lie within 6 standard errors of the stated coverage: false alarm 2e-9.

    And one row less than the half width would fall short of 95 %.
    """
    plan, errors = simulated(mechanism, definition)
    assert plan.half_width is not None and plan.coverage is not None
    inside = np.mean(np.abs(errors[:, 7]) <= plan.half_width)
    assert abs(inside - plan.coverage) < 6 * math.sqrt(0.05 * 0.95 / RUNS)
    cell = Combination.of(plan.noise, mechanism.strategy(plan).cell_coefficients())
    assert cell.coverage(plan.half_width - 1) < 0.95 <= plan.coverage


def test_the_sum_of_two_laplace_variables_has_its_known_coverage() -> None:
    # Continuous, scale 1 each: P(|X + Y| > h) = e^-h (1 + h/2).
    law = DiscreteLaplace(Fraction(10**6))
    h = 3 * 10**6
    assert Combination.of(law, [(1.0, 2)]).coverage(h) == pytest.approx(1 - math.exp(-3) * 2.5, abs=3e-6)


def test_expected_errors_of_the_best_tree_beat_the_published_hierarchy() -> None:
    # HB on 4,096 cells at ε = 1: 19.5 over ranges, 14.9 over totals.
    domain = Domain((Integer("x", upper=4095),))
    ranges = HierarchicalHistogram().plan(domain, {"purpose": "ranges"}, pure("1")).details["expected_errors"]
    totals = HierarchicalHistogram().plan(domain, {"purpose": "totals"}, pure("1")).details["expected_errors"]
    assert ranges["ranges"] < 16.5
    assert totals["totals"] < 14.5


@BOTH
def test_a_plan_for_ranges_expects_less_error_over_ranges(mechanism: StrategyHistogram) -> None:
    def error(purpose: str) -> float:
        return mechanism.plan(DOMAIN, {"purpose": purpose}, pure("1")).details["expected_errors"]["ranges"]

    assert error("ranges") < error("cells")


@BOTH
def test_json_brings_a_plan_back(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {"total": 40}, pure("0.1", REPLACE))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@BOTH
def test_a_measurement_without_noise_is_rebuilt_exactly(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {}, pure("1"))
    counts = np.random.default_rng(5).integers(0, 1000, 50)
    result = mechanism.reconstruct(plan, Measurement(mechanism.strategy(plan).answers(counts)))
    assert result.raw == pytest.approx(counts)
    assert result.counts.tolist() == counts.tolist()


@BOTH
def test_a_public_total_is_kept(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {"total": 50}, pure("0.01", REPLACE))
    counts = mechanism.reconstruct(plan, mechanism.measure(plan, np.ones(50, np.int64), Noise())).counts
    assert (counts.sum(), counts.min() >= 0) == (50, True)


@BOTH
def test_several_columns_are_taken_in_cell_order(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(Domain((Integer("age", upper=9), Boolean("insured"))), {}, pure("1"))
    assert "Cells are taken in the order of the columns" in plan.explanation


@BOTH
@pytest.mark.parametrize(
    ("domain", "parameters", "loss", "message"),
    [
        (Domain(()), {}, pure("1"), "at least one column"),
        (DOMAIN, {"purpose": "everything"}, pure("1"), "choose one of cells, ranges, totals"),
        (DOMAIN, {"total": 9}, pure("1"), "number of rows is private"),
        (DOMAIN, {}, pure("2000"), "protects nobody"),
        (DOMAIN, {}, pure("0.0000000001"), "too small"),
        (Domain((Integer("x", upper=2**24),)), {}, pure("1"), "at most 16,777,216"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    mechanism: StrategyHistogram, domain: Domain, parameters: dict, loss: Loss, message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        mechanism.plan(domain, parameters, loss)


@BOTH
def test_counts_that_do_not_fit_are_refused_without_their_values(mechanism: StrategyHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {}, pure("1"))
    with pytest.raises(ValueError, match=r"must not be negative$"):
        mechanism.measure(plan, np.full(50, -3), Noise())
