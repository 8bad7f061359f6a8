from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.histogram.noisy import GaussianHistogram, LaplaceHistogram
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.protocol import Measurement, Plan, PlanError

DOMAIN = Domain((Categorical("sex", values=("female", "male")), Boolean("insured")))
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)
TWO_ROWS = PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2)
LAPLACE, GAUSSIAN = LaplaceHistogram(), GaussianHistogram()


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def zcdp(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.ZCDP, Fraction(amount), unit)


@pytest.mark.parametrize(
    ("loss", "scale"),
    [
        (pure("0.1"), 10),
        (pure("0.1", REPLACE), 20),
        (pure("0.1", PrivacyUnit(max_rows=3)), 30),
        (zcdp("0.5"), 1),
    ],
)
def test_laplace_noise_has_scale_sensitivity_over_epsilon(loss: Loss, scale: int) -> None:
    assert LAPLACE.plan(DOMAIN, {}, loss).noise == DiscreteLaplace(Fraction(scale))


@pytest.mark.parametrize(
    ("loss", "variance"),
    [
        (zcdp("0.005"), 100),
        (zcdp("0.005", REPLACE), 200),
        (zcdp("0.005", PrivacyUnit(max_rows=3)), 900),
    ],
)
def test_gaussian_noise_has_variance_sensitivity_squared_over_two_rho(loss: Loss, variance: int) -> None:
    assert GAUSSIAN.plan(DOMAIN, {}, loss).noise == DiscreteGaussian(Fraction(variance))


def test_gaussian_noise_says_which_budget_it_needs() -> None:
    with pytest.raises(PlanError, match=r"needs a zCDP budget \(ρ\)"):
        GAUSSIAN.plan(DOMAIN, {}, pure("1"))


def test_a_plan_states_its_interval() -> None:
    # ε = 1: P(|K| <= 2) = 1 - 2 e^-3/(1 + 1/e) = 0.9272, P(|K| <= 3) = 0.9732.
    plan = LAPLACE.plan(DOMAIN, {}, pure("1"))
    assert (plan.half_width, round(plan.coverage, 4)) == (3, 0.9732)


def test_a_plan_explains_itself() -> None:
    assert LAPLACE.plan(DOMAIN, {}, pure("0.5")).explanation == (
        "Adding or removing one person, of whom 1 row counts, changes all counts together by at most 1 "
        "(L1 sensitivity 1), so discrete Laplace noise of scale 2 on every count gives ε = 0.50."
    )


def test_a_gaussian_plan_explains_itself() -> None:
    assert GAUSSIAN.plan(DOMAIN, {}, zcdp("0.5", REPLACE)).explanation == (
        "Replacing one person, of whom 1 row counts, changes the counts by at most √2 in L2 distance, "
        "so discrete Gaussian noise of variance parameter 2 on every count gives ρ = 0.50."
    )


def test_json_brings_a_plan_back() -> None:
    plan = LAPLACE.plan(DOMAIN, {"total": 40}, pure("0.1", REPLACE))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(
    ("domain", "parameters", "loss", "message"),
    [
        (Domain(()), {}, pure("1"), "at least one column"),
        (
            Domain((Integer("x", lower=0, upper=10**8),)),
            {},
            pure("1"),
            "100,000,001 cells; at most 100,000,000",
        ),
        (DOMAIN, {}, pure("1001"), "protects nobody"),
        (DOMAIN, {}, pure("0.0000000009"), "too small"),
        (DOMAIN, {}, zcdp("0.0000000000000000000001"), "too small"),
        (DOMAIN, {"within_bins": "anywhere"}, pure("1"), "choose one of smooth, midpoint"),
        (DOMAIN, {"total": 10}, pure("1"), "number of rows is private"),
        (
            DOMAIN,
            {"total": 10},
            pure("1", TWO_ROWS),
            "number of rows is private",
        ),
        (DOMAIN, {"total": -1}, pure("1", REPLACE), "must not be negative"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    domain: Domain, parameters: dict, loss: Loss, message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        LAPLACE.plan(domain, parameters, loss)


def test_gaussian_noise_of_more_than_a_billion_rows_is_refused() -> None:
    with pytest.raises(PlanError, match="too small"):
        GAUSSIAN.plan(DOMAIN, {}, zcdp("0.0000000000000000001"))


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSSIAN], ids=lambda m: m.name)
def test_a_measurement_is_counts_plus_the_noise_of_the_plan(mechanism: LaplaceHistogram) -> None:
    plan = mechanism.plan(DOMAIN, {}, zcdp("0.02"))
    counts = np.array([5, 0, 900, 3, 77, 10])
    source = [np.random.default_rng(4).bytes for _ in range(2)]
    measured = mechanism.measure(plan, counts, Noise(source[0])).values
    assert np.array_equal(measured - counts, Noise(source[1]).draw(plan.noise, 6))
    assert measured.dtype == np.int64


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros(5, np.int64), r"must have shape \(6,\), got \(5,\)"),
        (np.zeros((2, 3), np.int64), r"must have shape \(6,\), got \(2, 3\)"),
        (np.zeros(6), "must have type int64, got float64"),
        (np.full(6, -3), "must not be negative$"),
    ],
)
def test_counts_that_do_not_fit_are_refused_without_their_values(counts: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LAPLACE.measure(LAPLACE.plan(DOMAIN, {}, pure("1")), counts, Noise())


def test_reconstruction_keeps_the_raw_counts_and_finds_the_nearest_table() -> None:
    plan = LAPLACE.plan(DOMAIN, {}, pure("1"))
    raw = np.array([4, -1, 0, 7, 0, 0])
    result = LAPLACE.reconstruct(plan, Measurement(raw))
    assert result.raw is raw
    # 11 counted, 10 in total: one row fewer in one of the two positive cells.
    assert result.counts.tolist() in ([3, 0, 0, 7, 0, 0], [4, 0, 0, 6, 0, 0])


def test_a_negative_sum_makes_an_empty_table() -> None:
    plan = LAPLACE.plan(DOMAIN, {}, pure("1"))
    assert not LAPLACE.reconstruct(plan, Measurement(np.array([2, -9, 0, 0, 1, 0]))).counts.any()


def test_a_public_total_is_kept() -> None:
    plan = LAPLACE.plan(DOMAIN, {"total": 50}, pure("1", REPLACE))
    assert LAPLACE.reconstruct(plan, Measurement(np.array([2, -9, 0, 0, 1, 0]))).counts.sum() == 50


@pytest.mark.parametrize("half_width", [0, 1, 14, 1000, 10**7])
@pytest.mark.parametrize("unit", [PrivacyUnit(), TWO_ROWS], ids=str)
@pytest.mark.parametrize(
    ("mechanism", "definition"),
    [(LAPLACE, Definition.PURE), (LAPLACE, Definition.ZCDP), (GAUSSIAN, Definition.ZCDP)],
)
def test_loss_for_is_the_smallest_of_six_decimals(
    mechanism: LaplaceHistogram, definition: Definition, unit: PrivacyUnit, half_width: int
) -> None:
    loss = mechanism.loss_for(half_width, definition, unit)
    step = Fraction(1, 10**6)
    assert (loss.amount / step).denominator == 1
    assert mechanism.plan(DOMAIN, {}, loss).half_width <= half_width
    if loss.amount > step:
        less = replace(loss, amount=loss.amount - step)
        assert mechanism.plan(DOMAIN, {}, less).half_width > half_width


def test_a_negative_half_width_cannot_be_had() -> None:
    with pytest.raises(PlanError, match="No ε up to 1000"):
        LAPLACE.loss_for(-1, Definition.PURE, PrivacyUnit())


def test_gaussian_noise_has_no_pure_loss() -> None:
    with pytest.raises(PlanError, match="needs a zCDP budget"):
        GAUSSIAN.loss_for(10, Definition.PURE, PrivacyUnit())
