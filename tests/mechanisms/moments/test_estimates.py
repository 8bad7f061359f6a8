"""What is told stays possible, and no interval looks like certainty."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.moments.estimates import Interval, compared_means, cut_to
from mechanisms.moments.mechanism import exact_sums
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import widening
from tests.mechanisms.moments.measuring import (
    BERNSTEIN,
    NOBODY,
    ONE,
    PUBLIC,
    RHO,
    column,
    held,
    one_sided,
    powers_of,
    repeated,
)

HALF = Loss(Definition.PURE, Fraction(1, 2))
# Of which one or two people can be told apart from nobody.
LARGE = Loss(Definition.PURE, Fraction(20))
every_loss = pytest.mark.parametrize("loss", [HALF, RHO], ids=["pure", "zcdp"])


@every_loss
def test_a_share_at_a_bound_is_never_told_for_certain(loss: Loss) -> None:
    """One of a hundred values lies at the upper bound, five at the lower one."""
    x = np.array([0] * 5 + [50] * 94 + [100])
    told = repeated(BERNSTEIN.plan(NOBODY, [column(0, 100)], 2, loss, 100), powers_of(x, 100), 1000)
    for interval, truth in ((told.at_lower, 0.05), (told.at_upper, 0.01)):
        known = ~np.isnan(interval.lower)
        widths = interval.upper[known] - interval.lower[known]
        assert known.mean() > 0.9 and widths.min() > 0.2 * np.median(widths) > 0
        assert held(interval, truth) >= 0.93


@every_loss
def test_no_deviation_is_said_to_be_beyond_half_of_the_range(loss: Loss) -> None:
    """Of 50 values that lie at both ends of 0 to 10; steps of 3 end at 9."""
    x = np.repeat([0, 3], 25)
    told = repeated(BERNSTEIN.plan(NOBODY, [column(0, 10, 3)], 2, loss, 50), powers_of(x, 3), 100).deviation
    assert told is not None and told.upper.max() == 5 and held(told, 4.5) >= 0.9


@every_loss
def test_numbers_and_totals_are_possible_and_hold_the_truth_as_often(loss: Loss) -> None:
    """Two people of 1 and 3; 0 is the least total of columns from 0, and there is none of those from -10."""
    for lower, least in ((0, 0.0), (-10, -np.inf)):
        x = np.array([1, 3]) - lower
        plan = BERNSTEIN.plan(NOBODY, [column(lower, 10)], 2, loss, 2)
        told = repeated(plan, powers_of(x, 10 - lower), 2000)
        assert told.total is not None
        for interval, truth, end in ((told.number, 2, 0.0), (told.total, 4, least), (told.missing, 0, 0.0)):
            assert min(interval.estimate.min(), interval.lower.min()) >= end
            assert (interval.upper > interval.lower).all() and held(interval, truth) >= 0.938
    assert told.total.lower.min() < 0


@pytest.mark.parametrize(
    "loss", [HALF, LARGE, RHO, PUBLIC[0]], ids=["pure", "large", "zcdp", "public number"]
)
@pytest.mark.parametrize("values", [[], [7], [0, 1], [0, 0, 2, 3, 10, 10, 10]], ids=len)
@pytest.mark.parametrize("lower", [-10, 0, 20])
def test_tiny_groups_are_told_as_groups_that_there_could_be(
    lower: int, values: list[int], loss: Loss
) -> None:
    """Values in a range of 10, 1,500 times: the numbers of each group agree, and intervals hold the truth as often.

    A true 95 % falls below 0.928 with a chance of 5e-5.
    """
    x, upper = np.array(values, dtype=int) + lower, lower + 10
    plan = BERNSTEIN.plan(NOBODY, [column(lower, upper)], 2, loss, 7)
    told = repeated(plan, powers_of(x - lower, 10), 1500)
    number, mean = told.number.estimate, told.mean.estimate
    assert told.total is not None and told.deviation is not None
    total, squares = told.total.estimate, told.deviation.estimate**2
    if plan.columns[0].basis.quiet:
        assert (number + told.missing.estimate == len(x)).all() and (told.number.upper <= len(x)).all()
    assert (number % 1 == 0).all() and (number >= 0).all() and (total[number == 0] == 0).all()
    assert (number * lower - 1e-9 <= total).all() and (total <= number * upper + 1e-9).all()
    known = ~np.isnan(mean)
    assert total[known] == pytest.approx((number * mean)[known], abs=1e-9)
    assert (squares[known] <= ((mean - lower) * (upper - mean))[known] + 1e-9).all()
    assert (squares[known & (number == 1)] <= 1e-9).all()
    shares = told.at_lower.estimate + told.at_upper.estimate
    assert not (shares > 1 + 1e-9).any()
    rows = len(x) if plan.columns[0].basis.quiet else np.inf
    truths = [
        (told.number, len(x), 0, rows),
        (told.total, x.sum(), *plan.columns[0].column.possible_totals),
    ]
    if values:
        truths += [(told.mean, x.mean(), lower, upper), (told.deviation, x.std(), 0, 5)]
        truths += [(told.at_lower, np.mean(x == lower), 0, 1), (told.at_upper, np.mean(x == upper), 0, 1)]
    for interval, truth, least, most in truths:
        assert held(interval, float(truth)) >= 0.928
        assert not one_sided(interval, least, most)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_means_of_groups_hold_together_in_95_percent(loss: Loss) -> None:
    """Six groups of 60 people, 1,000 times: all six intervals hold, or tell nothing."""
    x = np.random.default_rng(3).integers(0, 101, 60)
    plan = BERNSTEIN.plan(Domain((Integer("g", lower=1, upper=6),)), [column(0, 100)], 2, loss, 360)
    one = BERNSTEIN.plan(NOBODY, [column(0, 100)], 2, loss, 360)
    sums = np.tile(exact_sums(one, powers_of(x, 100)), (1, 6000, 1))
    sums += Noise(np.random.default_rng(4).bytes).draw(plan.columns[0].noise, sums.size).reshape(sums.shape)
    [means] = compared_means(plan, sums)
    wrong = (means.lower > x.mean()) | (x.mean() > means.upper)
    assert wrong.reshape(1000, 6).any(axis=1).mean() <= 0.062
    assert widening(6) > 1.5


def test_an_interval_beyond_what_is_possible_keeps_half_of_its_width() -> None:
    cut = cut_to(Interval(np.array([-5.0]), np.array([-7.0]), np.array([-3.0])), 0, np.inf)
    assert (cut.estimate[0], cut.lower[0], cut.upper[0]) == (0, 0, 2)


@every_loss
def test_of_two_values_the_deviation_is_that_of_the_mean(loss: Loss) -> None:
    x = np.repeat([0, 1], [16, 4])
    told = repeated(BERNSTEIN.plan(NOBODY, [column(0, 1)], 2, loss, 20), powers_of(x, 1), 300)
    known = ~np.isnan(told.mean.estimate)
    assert told.deviation is not None and known.any()
    mean, own = told.mean.estimate[known], told.deviation
    assert own.estimate[known] == pytest.approx(np.sqrt(mean * (1 - mean)))
    assert held(own, 0.4) >= 0.93


@every_loss
@pytest.mark.parametrize("top", [4, 1000])
def test_shares_at_bounds_are_those_that_mean_and_deviation_allow(top: int, loss: Loss) -> None:
    """By linear programmes: some shares of the whole steps have all four, as far as the deviation is that of any."""
    x = np.repeat([0, top], [900, 100])
    told = repeated(BERNSTEIN.plan(NOBODY, [column(0, top)], 2, loss, 1000), powers_of(x, top), 40)
    assert told.deviation is not None
    t, s = told.mean.estimate / top, told.deviation.estimate / top
    low, high = told.at_lower.estimate, told.at_upper.estimate
    v = np.arange(top + 1) / top
    fixed, seen = np.array([v >= 0, v == 0, v == 1, v]), 0
    for row in np.flatnonzero(~np.isnan(t + low + high)):
        # Jensen's bound is that of any values, and steps between two have at most 1/(4W²) more.
        ends = [
            linprog(sign * v**2, A_eq=fixed, b_eq=[1, low[row], high[row], t[row]], bounds=(0, 1))
            for sign in (1, -1)
        ]
        assert all(end.success for end in ends)
        assert ends[0].fun - 1 / (4 * top**2) - 1e-6 <= s[row] ** 2 + t[row] ** 2 <= -ends[1].fun + 1e-6
        seen += 1
    assert seen > 10
