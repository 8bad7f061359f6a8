"""Sums of Bernstein polynomials: exact without noise, and intervals that hold the truth as often as stated."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Date, Domain, Integer, Real
from mechanisms.moments.basis import Bernstein
from mechanisms.moments.column import MAX_STEPS, MeasuredColumn
from mechanisms.moments.estimates import KNOTS, Interval, Sums, totals
from mechanisms.moments.expectation import expectation
from mechanisms.moments.mechanism import LARGEST_SUM, MAX_COLUMNS, MOST_ROWS, ROOM, exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.moments.reported_groups import have_somebody
from mechanisms.noise import Noise, weighted_sum
from mechanisms.protocol import PlanError
from tests.mechanisms.moments.measuring import (
    BERNSTEIN,
    NOBODY,
    ONE,
    PUBLIC,
    RHO,
    SHAPES,
    column,
    first_told,
    held,
    powers_of,
    repeated,
)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("degree", [1, 2])
def test_without_noise_the_estimates_are_those_of_numpy(
    degree: int, loss: Loss, neighbours: Neighbours
) -> None:
    x = np.random.default_rng(1).integers(17, 91, 500)
    loss = replace(loss, unit=PrivacyUnit(neighbours))
    plan = BERNSTEIN.plan(NOBODY, [column(17, 90)], degree, loss, 507)
    exact = first_told(plan, exact_sums(plan, powers_of(x - 17, 73, missing=7))[0])
    assert exact.number.estimate == pytest.approx(500)
    assert exact.total.estimate == pytest.approx(x.sum())
    assert exact.mean.estimate == pytest.approx(x.mean())
    assert exact.missing.estimate == pytest.approx(7)
    assert exact.at_upper.estimate == pytest.approx((x == 90).mean())
    if degree == 2:
        assert exact.deviation is not None
        assert exact.deviation.estimate == pytest.approx(x.std())


def test_intervals_reach_over_all_of_a_step() -> None:
    """A million values a hundredth below the next step of 10; noise is next to nothing, and means of steps 10 lower."""
    coarse = MeasuredColumn.of(Real("x", lower=0.0, upper=1000.0, bins=10), Fraction(10))
    x = 10 * np.random.default_rng(1).integers(1, 101, 10**6) - 0.01
    plan = BERNSTEIN.plan(NOBODY, [coarse], 2, ONE, len(x))
    told = first_told(plan, exact_sums(plan, powers_of((x // 10).astype(int), 100))[0])
    for interval, truth in ((told.total, x.sum()), (told.mean, x.mean()), (told.deviation, x.std())):
        assert interval is not None and held(interval, truth) == 1
    assert told.mean.estimate == pytest.approx(x.mean() - 9.99)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("people", [10, 25, 400])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth_in_95_percent(shape: str, people: int, loss: Loss) -> None:
    """4,000 runs each: a true 95 % falls below 0.9384 with a chance of 5e-4; a quarter of a hundred are looked at."""
    x = SHAPES[shape](np.random.default_rng(3), people)
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, loss, people)
    told = repeated(plan, powers_of(x, 1000), 4_000)
    assert told.deviation is not None
    for interval, truth in (
        (told.number, people), (told.total, x.sum()), (told.mean, x.mean()), (told.deviation, x.std()),
        (told.missing, 0), (told.at_lower, (x == 0).mean()), (told.at_upper, (x == 1000).mean()),
    ):  # fmt: skip
        assert held(interval, float(truth)) >= 0.938


@pytest.mark.slow
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_groups_added_up_have_the_interval_of_all_their_noise(loss: Loss) -> None:
    """Five groups of 40 people, 4,000 times: at least 93.8 %, and of linear sums no more than 96.2 %."""
    x = np.random.default_rng(4).integers(0, 1001, 40)
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, loss, 40)
    sums = np.tile(exact_sums(plan, powers_of(x, 1000))[0], (4_000, 5, 1))
    sums += Noise(np.random.default_rng(12).bytes).draw(plan.columns[0].noise, sums.size).reshape(sums.shape)
    told = first_told(plan, sums.sum(axis=1), times=5)
    assert told.total is not None and told.deviation is not None
    for linear, truth in ((told.number, 200), (told.total, 5 * x.sum())):
        assert 0.938 <= held(linear, float(truth)) <= 0.962
    assert held(told.mean, float(x.mean())) >= 0.938
    assert held(told.deviation, float(x.std())) >= 0.938


@pytest.mark.parametrize("loss", [ONE, RHO, *PUBLIC], ids=["pure", "zcdp", "pure public", "zcdp public"])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_reach_of_a_ratios_noise_changes_by_less_than_the_numbers(degree: int, loss: Loss) -> None:
    """So the interval of a mean has single ends: `Sums.ratio`."""
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], degree, loss, 40)
    own, ratios = Sums(plan.columns[0], degree), np.linspace(0, 1, 41)
    for above in (own.first, own.at_lower):
        reach = np.array([own.half_width(above - p * own.number) for p in ratios])
        assert np.abs(np.diff(reach)).max() * 40 < own.half_width(own.number)


def numbers_of_nobody(plan: MomentsPlan, runs: int) -> np.ndarray:
    """As they are measured."""
    own = Sums.of(plan, plan.columns[0])
    noise = Noise(np.random.default_rng(4).bytes).draw(plan.columns[0].noise, runs * len(own.number))
    return noise.reshape(runs, -1) @ own.number


def test_nothing_is_told_of_the_mean_of_nobody() -> None:
    """A group of nobody: its number is above its interval's half-width in 2.5 % of all runs; of many none is."""
    plan = BERNSTEIN.plan(NOBODY, [column(0, 10)], 2, ONE, 100)
    together = repeated(plan, powers_of(np.array([]), 10), 4_000)
    assert np.isnan(together.mean.estimate).all()
    reach = Sums.of(plan, plan.columns[0]).half_width(Sums.of(plan, plan.columns[0]).number)
    alone = [
        have_somebody(number[None], reach, plan.columns[0].noise)[0]
        for number in numbers_of_nobody(plan, 4_000)
    ]
    assert np.mean(alone) == pytest.approx(0.025, abs=0.01)


def test_twenty_columns_added_up_take_the_work_of_one_and_a_total_each() -> None:
    """A visitor waits for a reader's sum: of 1,060 reaches some 50 are worked out, at less than a millisecond each."""
    columns = [MeasuredColumn.of(Integer(f"x{i}", lower=3 + i, upper=90 + 7 * i)) for i in range(MAX_COLUMNS)]
    plan = BERNSTEIN.plan(NOBODY, columns, 2, ONE, 100)
    weighted_sum._laplace_quantile.cache_clear()
    for planned in plan.columns:
        totals(Sums(planned, 2, times=7), np.full((1, 6), 100.0 * planned.unit), np.array([100.0]))
    assert weighted_sum._laplace_quantile.cache_info().misses <= KNOTS + 1 + MAX_COLUMNS


def test_a_group_expects_what_its_intervals_then_are() -> None:
    """Half the interval of an even column's mean is below the expectation, which is for a mean at a bound."""
    x = np.random.default_rng(5).integers(0, 1001, 2000)
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, ONE, 2000)
    told = repeated(plan, powers_of(x, 1000), 50)
    expected = expectation(plan, plan.columns[0], 2000)
    assert told.deviation is not None and expected.mean is not None
    assert (told.number.upper - told.number.lower)[0] / 2 == pytest.approx(expected.number)
    assert (told.total.upper - told.total.lower)[0] / 2 == pytest.approx(expected.total)
    assert ((told.mean.upper - told.mean.lower) / 2).max() <= expected.mean
    assert np.mean((told.deviation.upper - told.deviation.lower) / 2) == pytest.approx(
        expected.deviation, rel=0.1
    )


def reach(interval: Interval) -> float:
    """To the farther end, in the middle one of many runs."""
    sides = interval.upper - interval.estimate, interval.estimate - interval.lower
    return float(np.median(np.maximum(*sides)))


@pytest.mark.parametrize("step", [1, 50, 1000])
@pytest.mark.parametrize("values", ["even", "mostly nothing", "alike"])
def test_no_interval_reaches_farther_than_is_expected_whatever_the_values_and_the_step(
    values: str, step: int
) -> None:
    """Values are rounded down to whole steps, so intervals reach up by a step more."""
    random = np.random.default_rng(6)
    even = random.integers(0, 1000, 3000)
    x = {"even": even, "mostly nothing": even * (random.random(3000) < 0.05), "alike": even * 0}[values]
    measured = MeasuredColumn(Integer("x", lower=0, upper=1000), Fraction(step))
    plan = BERNSTEIN.plan(NOBODY, [measured], 2, ONE, 3000)
    told = repeated(plan, powers_of(x // step, measured.steps), 50)
    expected = expectation(plan, plan.columns[0], 3000)
    assert told.deviation is not None and told.total is not None
    assert expected.mean is not None and expected.total is not None
    assert expected.most_deviation is not None
    # The noise itself moves a margin.
    assert reach(told.mean) <= 1.05 * expected.mean
    assert reach(told.total) <= 1.05 * expected.total
    assert reach(told.deviation) <= 1.05 * expected.most_deviation
    assert expected.mean >= 999 * (step == 1000)


def test_the_guide_says_how_sure_a_mean_age_is() -> None:
    """“To within ± 0.01 years”: 32,561 people between 17 and 90, at ε = 1."""
    plan = BERNSTEIN.plan(NOBODY, [column(17, 90)], 2, ONE, 32_561)
    mean = expectation(plan, plan.columns[0], 32_561).mean
    assert mean is not None and 0.005 < mean <= 0.01


@pytest.mark.parametrize(
    ("lower", "upper", "step", "message"),
    [
        (0, 10, 0, "above 0"), (0, 10, 11, "larger than the range"),
        (0, MAX_STEPS + 1, 1, "at least 2"), (5, 5, 1, "nothing to measure"),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_is_refused(lower: int, upper: int, step: int, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        column(lower, upper, step)


@pytest.mark.parametrize("top", [MAX_STEPS + 1, 204_000, 99 * MAX_STEPS + 1, 10**12 + 1, 10**18 - 1])
@pytest.mark.parametrize("kind", [Integer, Real])
def test_the_step_that_a_refusal_names_is_large_enough(top: int, kind: type[Integer] | type[Real]) -> None:
    attribute = kind("x", lower=0, upper=top)
    with pytest.raises(PlanError, match="Choose a step of at least") as refusal:
        MeasuredColumn.of(attribute, Fraction(1, 1 if kind is Integer else 100))
    [named] = re.findall(r"at least ([0-9.e+,-]+)\.$", str(refusal.value))
    assert MAX_STEPS / 2 <= MeasuredColumn.of(attribute, Fraction(named.replace(",", ""))).steps <= MAX_STEPS


def test_of_too_many_days_no_step_is_asked_for() -> None:
    """Days have no step to choose."""
    century = Date("day", lower=dt.date(1, 1, 1), upper=dt.date(9999, 12, 31))
    with pytest.raises(PlanError, match="3,652,058 days apart; at most 100,000 can"):
        MeasuredColumn.of(century)


def test_a_step_that_does_not_divide_the_range_ends_below_it() -> None:
    assert float(column(0, 99, 10).top) == 90


def test_decimals_are_read_to_the_very_step() -> None:
    """6.3 of 4.0 to 8.0 in steps of 0.1 is the 23rd step, as it was typed, and 8.0 the 40th."""
    measured = MeasuredColumn.of(Real("x", lower=4.0, upper=8.0, bins=4), Fraction("0.1"))
    edges = measured.reading.all_edges
    assert (measured.steps, edges[23], edges[40], len(edges)) == (40, 6.3, 8.0, 42)


def test_dates_are_days_since_1970() -> None:
    measured = MeasuredColumn.of(Date("x", lower=dt.date(1970, 1, 2), upper=dt.date(1970, 2, 1)))
    assert (measured.lower, measured.steps, measured.bound_texts) == (1, 30, ("1970-01-02", "1970-02-01"))
    assert measured.reading.labels()[30] == "1970-02-01"


def test_a_column_without_numbers_is_refused() -> None:
    with pytest.raises(PlanError, match="has no mean"):
        MeasuredColumn.of(Boolean("x"))


def test_what_64_bits_do_not_hold_even_rounded_is_refused_before_anything_is_read() -> None:
    wide = column(0, MAX_STEPS)
    with pytest.raises(PlanError, match="exceed 64 bits, even rounded"):
        BERNSTEIN.plan(NOBODY, [wide], 2, ONE, MOST_ROWS // ROOM + 1)
    assert BERNSTEIN.plan(NOBODY, [wide], 2, ONE, MOST_ROWS // ROOM)
    with pytest.raises(PlanError, match="a larger ε"):
        BERNSTEIN.plan(NOBODY, [wide], 2, Loss(Definition.PURE, Fraction(1, 10**7)), 100)


@pytest.mark.parametrize("loss", [ONE, replace(RHO, amount=Fraction(1))], ids=["pure", "zcdp"])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("max_rows", [1, 50])
@pytest.mark.parametrize("steps", [1, 37, 1000, MAX_STEPS])
def test_the_largest_table_that_is_accepted_is_added_up_in_full(
    steps: int, max_rows: int, degree: int, loss: Loss
) -> None:
    """All rows that there is room for, at the lower bound, the middle and the upper one, against Python's integers."""
    wide, loss = column(0, steps), replace(loss, unit=PrivacyUnit(max_rows=max_rows))

    def accepted(people: int) -> MomentsPlan | None:
        try:
            return BERNSTEIN.plan(NOBODY, [wide], degree, loss, people)
        except PlanError as refusal:
            assert "64 bits, even rounded" in str(refusal)
            return None

    low, high = 1, 2**62
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepted(middle) else (low, middle)
    plan, rows = accepted(low), ROOM * low * max_rows
    assert plan is not None and rows <= MOST_ROWS
    [planned] = plan.columns
    assert isinstance(planned.basis, Bernstein)
    times = planned.unit * planned.rounded_by // steps**degree
    for v in {0, steps // 2, steps}:
        powers = np.array(
            [[[rows, rows * v, rows * v * v, 0, rows * (v == 0), rows * (v == steps)]]], dtype=object
        )
        by_hand = [
            times * rows * math.comb(degree, k) * v**k * (steps - v) ** (degree - k)
            for k in range(degree + 1)
        ]
        if degree == 2:
            by_hand[1] = int(by_hand[1] * planned.basis.middle)
        rounded = [exact // planned.rounded_by for exact in by_hand]
        assert exact_sums(plan, powers)[0, 0, : degree + 1].tolist() == rounded


def test_rows_of_one_person_count_as_often_as_they_may() -> None:
    many = replace(ONE, unit=PrivacyUnit(max_rows=100))
    assert BERNSTEIN.plan(NOBODY, [column(0, 30_000)], 2, ONE, 10**11)
    with pytest.raises(PlanError, match="fewer rows a person"):
        BERNSTEIN.plan(NOBODY, [column(0, 30_000)], 2, many, 10**11)


def test_more_people_than_expected_are_cut_and_refuse_nothing() -> None:
    plan = BERNSTEIN.plan(NOBODY, [column(0, MAX_STEPS)], 2, ONE, 10**6)
    many = np.array([[[10**12, 10**17, 10**22, 0, 0, 10**12]]], dtype=object)
    assert exact_sums(plan, many).max() == LARGEST_SUM


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(PlanError, match="1,000,000 groups"):
        BERNSTEIN.plan(Domain((Integer("g", lower=1, upper=10**6),)), [column(0, 9)], 1, ONE, 100)


def test_what_is_chosen_twice_or_cannot_be_expected_is_refused_by_name() -> None:
    with pytest.raises(PlanError, match="x is chosen twice"):
        BERNSTEIN.plan(NOBODY, [column(0, 9), column(0, 9)], 1, ONE, 100)
    with pytest.raises(PlanError, match="x is chosen twice"):
        BERNSTEIN.plan(Domain((Integer("x", lower=1, upper=3),)), [column(0, 9)], 1, ONE, 100)
    for people in (0, -5):
        with pytest.raises(PlanError, match=f"at least one person, not {people}"):
            BERNSTEIN.plan(NOBODY, [column(0, 9)], 1, ONE, people)


def test_too_small_a_loss_is_named_as_it_was_typed() -> None:
    """Not the share of each of two columns."""
    columns = [column(0, 9), MeasuredColumn.of(Integer("y", lower=0, upper=9))]
    with pytest.raises(PlanError, match="ε = 1e-10 is too small"):
        BERNSTEIN.plan(NOBODY, columns, 1, Loss(Definition.PURE, Fraction(1, 10**10)), 10)


def test_a_plan_is_read_as_it_was_written() -> None:
    columns = [column(0, 9), MeasuredColumn.of(Real("y", lower=0.5, upper=2.5, bins=4))]
    plan = BERNSTEIN.plan(Domain((Boolean("g"),)), columns, 2, RHO, 100)
    assert MomentsPlan.from_json(plan.to_json()) == plan
