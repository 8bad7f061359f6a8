"""Each statistical test errs with probability 1e-7."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError
from mechanisms.registry import RESPONSES, response
from mechanisms.response import (
    RandomisedResponse,
    Response,
    ResponsePlan,
    UnaryEncoding,
    estimate_of,
    odds_below,
    shuffled_codes,
)

FALSE_ALARM = 1e-7
REPLACE_ONE = PrivacyUnit(Neighbours.REPLACE_ONE)
LN_3 = Fraction(str(math.log(3)))
MILLION = 10**6
every_response = pytest.mark.parametrize("m", RESPONSES, ids=lambda m: m.name)


def column_of(number: int) -> Domain:
    """A column of so many cells."""
    return Domain((Integer("x", lower=1, upper=number),))


def pure(epsilon: Fraction | str) -> Loss:
    return Loss(Definition.PURE, Fraction(epsilon), REPLACE_ONE)


@pytest.mark.parametrize(
    ("m", "categories", "variance"),
    [(RandomisedResponse(), 2, 0.75), (RandomisedResponse(), 4, 1.25), (UnaryEncoding(), 4, 3.0)],
    ids=["k=2", "k=4", "unary"],
)
def test_the_known_variance_of_a_value_nobody_has(m: Response, categories: int, variance: float) -> None:
    assert m.plan(column_of(categories), pure(LN_3)).standard_error ** 2 == pytest.approx(variance, rel=1e-8)


@pytest.mark.parametrize(
    ("m", "keep", "other"), [(RandomisedResponse(), 1 / 2, 1 / 6), (UnaryEncoding(), 1 / 2, 1 / 4)]
)
def test_the_chances_of_four_values_at_ln_3(m: Response, keep: float, other: float) -> None:
    plan = m.plan(column_of(4), pure(LN_3))
    assert (float(plan.keep), float(plan.other)) == pytest.approx((keep, other), abs=1e-9)


@every_response
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "5", "20", "30", "1000"])
@pytest.mark.parametrize("categories", [2, 3, 1000])
def test_the_rational_chances_never_exceed_epsilon(m: Response, epsilon: str, categories: int) -> None:
    plan = m.plan(column_of(categories), pure(epsilon))
    odds = m._odds(plan.keep, plan.other)
    assert odds <= odds_below(Fraction(epsilon))
    assert plan.exact_epsilon == pytest.approx(math.log(odds))


@every_response
def test_rounding_to_rational_chances_costs_next_to_nothing(m: Response) -> None:
    assert m.plan(column_of(10), pure("1")).exact_epsilon == pytest.approx(1, abs=1e-7)


def test_the_rational_below_e_differs_in_the_fortieth_digit() -> None:
    e = Fraction("2.718281828459045235360287471352662497757247")
    assert 0 < e - odds_below(Fraction(1)) < Fraction(2, 10**39)


def _within_chance(successes: int, trials: int, probability: Fraction) -> bool:
    p = float(probability)
    return 2 * min(binom.cdf(successes, trials, p), binom.sf(successes - 1, trials, p)) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("report", [0, 1, 2])
def test_a_report_of_three_values_has_its_chance(report: int) -> None:
    m = RandomisedResponse()
    plan = m.plan(column_of(3), pure("1"))
    reports = m.report_counts(plan, m.measure(plan, np.ones(MILLION, dtype=np.int64), Noise()))
    assert _within_chance(int(reports[report]), MILLION, plan.keep if report == 1 else plan.other)


@pytest.mark.slow
@pytest.mark.parametrize("bit", [0, 1, 8])
def test_a_bit_of_nine_values_has_its_chance(bit: int) -> None:
    m = UnaryEncoding()
    plan = m.plan(column_of(9), pure("1"))
    reports = m.report_counts(plan, m.measure(plan, np.full(MILLION, 8), Noise()))
    assert _within_chance(int(reports[bit]), MILLION, plan.keep if bit == 8 else plan.other)


def test_a_unary_report_is_packed_eight_bits_to_a_byte() -> None:
    m = UnaryEncoding()
    plan = m.plan(column_of(9), pure("1"))
    values = m.measure(plan, np.zeros(5, dtype=np.int64), Noise()).values
    assert (values.shape, values.dtype, m.bits(plan, values).shape) == ((5, 2), np.uint8, (5, 9))


def test_an_estimate_undoes_the_expected_reports() -> None:
    # p = 3/4, q = 1/4: of 60 and 40 rows, 60·¾ + 40·¼ = 55 report the first value.
    plan = RandomisedResponse().plan(column_of(2), pure(LN_3))
    reports = Measurement(np.repeat([0, 1], [55, 45]))
    assert RandomisedResponse().estimate(plan, reports).counts == pytest.approx([60, 40], abs=1e-5)


def test_the_standard_error_of_two_values() -> None:
    # With p(1-p) = q(1-q) = 3/16 the share does not matter: √(100 · 3/16)/½ = 8.66 rows.
    plan = RandomisedResponse().plan(column_of(2), pure(LN_3))
    estimate = RandomisedResponse().estimate(plan, Measurement(np.repeat([0, 1], [55, 45])))
    assert estimate.standard_error == pytest.approx([math.sqrt(75)] * 2)
    # √(75 + z²/4 · 4) for the score interval, and 9/16 of a report, each report worth 2 rows.
    assert estimate.half_width == pytest.approx([1.96 * math.sqrt(75 + 1.96**2) + 2 * 9 / 16] * 2, rel=1e-4)


@pytest.mark.slow
@every_response
def test_estimates_are_as_near_as_their_standard_errors_say(m: Response) -> None:
    counts = np.array([500_000, 300_000, 200_000, 0])
    plan = m.plan(column_of(4), pure("1"))
    estimate = m.estimate(plan, m.measure(plan, shuffled_codes(counts, Noise()), Noise()))
    # Four estimates, each beyond this many standard errors with probability 1e-7/4.
    assert (np.abs(estimate.counts - counts) < norm.isf(FALSE_ALARM / 8) * estimate.standard_error).all()


def coins(number: int, chance: float) -> tuple[int, np.ndarray]:
    """The law of so many coins: the least number of heads that matters, and the probabilities from there on."""
    if number == 0:
        return 0, np.ones(1)
    low, high = int(binom.ppf(1e-10, number, chance)), int(binom.isf(1e-10, number, chance))
    return low, binom.pmf(np.arange(low, high + 1), number, chance)


@pytest.mark.parametrize("rows", [1, 2, 5, 40, 200, 760, 5600, 20_000])
@pytest.mark.parametrize("amount", ["0.05", "0.3", "1", "3", "5", "8", "10"])
@every_response
def test_intervals_hold_the_true_count_in_95_of_100_by_exact_probabilities(
    m: Response, amount: str, rows: int
) -> None:
    """At ε = 10 they held it in 79 of 100 releases of 2,800 among 5,600 rows: noise is less than a report there."""
    for values in (2, 10, 50):
        plan = m.plan(column_of(values), pure(amount))
        for true in {0, 1, rows // 10, rows // 2, rows - rows // 10, rows}:
            least, own = coins(true, float(plan.keep))
            more, others = coins(rows - true, float(plan.other))
            law = np.convolve(own, others)
            found = estimate_of(plan, np.arange(least + more, least + more + law.size), rows)
            inside = np.abs(found.counts - true) <= found.half_width * (1 + 1e-12)
            assert law[inside].sum() >= 0.95 - 1e-8, (values, true)
            assert (
                found.half_width <= 1.25 * 1.96 * found.standard_error + 8 / float(plan.keep - plan.other)
            ).all()


@every_response
def test_the_plan_foretells_the_margin_that_is_stated_with_a_count(m: Response) -> None:
    """Of the average of four values, 2,500 of 10,000 rows; and none is wider than the plan's widest."""
    plan, rows = m.plan(column_of(4), pure(LN_3)), 10_000
    reports = rows * float(plan.other) + (float(plan.keep) - float(plan.other)) * np.array(
        [-500.0, 0, 2500, 9000, 10_000]
    )
    stated = estimate_of(plan, reports, rows).half_width
    assert stated[2] == pytest.approx(plan.half_widths(np.array([2500.0]), rows)[0])
    assert stated.max() <= plan.widest(rows) <= stated.max() * (1 + 1e-12)
    # Whose variance at a share of f is f times that of `keep` and 1 - f times that of `other`, in reports.
    variance = plan.spread(np.array([0.25]))[0] / float(plan.keep - plan.other) ** 2
    assert stated[2] == pytest.approx(1.96 * math.sqrt(variance * rows), rel=0.04)


@every_response
def test_a_table_without_rows_gives_zeros(m: Response) -> None:
    plan = m.plan(column_of(3), pure("1"))
    estimate = m.estimate(plan, m.measure(plan, np.zeros(0, dtype=np.int64), Noise()))
    assert estimate.counts.tolist() == estimate.standard_error.tolist() == [0, 0, 0]


def test_shuffled_codes_have_the_counts() -> None:
    assert np.bincount(shuffled_codes(np.array([2, 0, 3]), Noise())).tolist() == [2, 0, 3]


def test_shuffled_codes_are_not_in_order() -> None:
    # The one order of values that is sorted has a chance of (100!)²/200! < 1e-58.
    codes = shuffled_codes(np.array([100, 100]), Noise())
    assert (np.diff(codes) < 0).any()


@every_response
def test_a_plan_survives_json(m: Response) -> None:
    plan = m.plan(column_of(5), Loss(Definition.ZCDP, Fraction(1, 8), REPLACE_ONE))
    assert ResponsePlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@every_response
def test_a_zcdp_loss_buys_the_pure_loss_within_it(m: Response) -> None:
    # ε²/2 = 1/8 at ε = ½.
    plan = m.plan(column_of(5), Loss(Definition.ZCDP, Fraction(1, 8), REPLACE_ONE))
    assert plan.exact_epsilon == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2)])
def test_a_private_number_of_rows_is_refused(unit: PrivacyUnit) -> None:
    with pytest.raises(PlanError, match="shows the number of rows"):
        RandomisedResponse().plan(column_of(2), Loss(Definition.PURE, Fraction(1), unit))


@pytest.mark.parametrize("categories", [1, 10_001])
def test_a_number_of_values_out_of_range_is_refused(categories: int) -> None:
    with pytest.raises(PlanError, match="needs 2 to 10,000 values"):
        UnaryEncoding().plan(column_of(categories), pure("1"))


@every_response
@pytest.mark.parametrize(
    ("epsilon", "message"), [("1001", "protects nobody"), ("1/10000000000000", "too small")]
)
def test_an_absurd_epsilon_is_refused(m: Response, epsilon: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        m.plan(column_of(3), pure(epsilon))


@pytest.mark.parametrize("codes", [np.array([0, 3]), np.array([-1, 0])], ids=["too large", "negative"])
def test_codes_outside_the_values_are_refused(codes: np.ndarray) -> None:
    m = RandomisedResponse()
    with pytest.raises(ValueError, match=r"codes must lie in 0\.\.2"):
        m.measure(m.plan(column_of(3), pure("1")), codes, Noise())


def test_codes_that_are_not_integers_are_refused() -> None:
    m = RandomisedResponse()
    with pytest.raises(ValueError, match="vector of integers, got float64"):
        m.measure(m.plan(column_of(3), pure("1")), np.array([0.0, np.nan]), Noise())


def test_reports_beyond_two_gibibytes_are_refused() -> None:
    m, rows = UnaryEncoding(), np.zeros(2**31 // 1250 + 1, dtype=np.int64)
    with pytest.raises(ValueError, match="more than 2,147,483,648 bytes"):
        m.measure(m.plan(column_of(10_000), pure("1")), rows, Noise())


def test_a_response_is_found_by_its_name() -> None:
    assert [response(m.name) for m in RESPONSES] == list(RESPONSES)
