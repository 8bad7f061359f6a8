"""A table of each column: exact without noise, consistent with it, and intervals that hold as often as stated."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.moments.estimates import Interval
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import reach
from mechanisms.noise.weighted_sum import weighted_half_width
from mechanisms.protocol import PlanError
from mechanisms.summary.column_estimates import QUANTILES, CategoryEstimates, NumberEstimates, Summary
from mechanisms.summary.counts import split_values
from mechanisms.summary.differences import difference
from mechanisms.summary.estimates import estimates
from mechanisms.summary.expectation import expectations, number_half_width, typical
from mechanisms.summary.line import LineColumn
from mechanisms.summary.mechanism import COUNTED, JOINT, ColumnTables
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.split import best_shares
from mechanisms.summary.truth import true_summary
from tests.mechanisms.summary.counting import NONE, counted
from tests.nightly import NIGHTLY

TABLES = ColumnTables()
NUMBER = Integer("x", True, 0, 1000)
KIND = Categorical("kind", True, values=("a", "b", "c"))
COLUMNS: tuple[Attribute, ...] = (NUMBER, KIND)
LOSSES = {
    "pure": Loss(Definition.PURE, Fraction(1)),
    "zcdp": Loss(Definition.ZCDP, Fraction(1, 10)),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
RUNS = 20_000 if NIGHTLY else 2_000


def least(runs: int) -> float:
    """A true 95 % falls below it with a chance of 2e-4 (normal approximation, 3.5 standard errors)."""
    return float(0.95 - 3.5 * (0.95 * 0.05 / runs) ** 0.5)


def plan_of(loss: Loss, groups: int = 1, columns: tuple[Attribute, ...] = COLUMNS) -> SummaryPlan:
    """With so many groups and none besides; more than can be released where they stand for runs. Under ρ jointly."""
    kind = JOINT if loss.definition is Definition.ZCDP else COUNTED
    plan = TABLES.composed(Domain(()), columns, (), loss, 1000, kind)
    if groups == 1:
        return plan
    return replace(plan, groups=Domain((Integer("g", lower=1, upper=groups),)))


def rows(number: int, seed: int = 5) -> tuple[Integers, dict[str, Integers]]:
    """Two groups, a skewed number that is sometimes missing, and a kind that follows it."""
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, number)
    x = np.minimum(random.geometric(0.01 - 0.004 * group), 1200)
    kind = np.where(x < 50, 0, random.integers(0, 3, number))
    return group, {"x": np.where(random.random(number) < 0.1, NONE, x), "kind": kind}


def noisy(plan: SummaryPlan, exact: Integers, seed: int = 7) -> Summary:
    noise = Noise(np.random.default_rng(seed).bytes)
    return estimates(plan, TABLES.measure(plan, exact, noise).values)


def number_column(summary: Summary) -> NumberEstimates:
    column = summary.columns[0]
    assert isinstance(column, NumberEstimates)
    return column


def category_column(summary: Summary) -> CategoryEstimates:
    column = summary.columns[1]
    assert isinstance(column, CategoryEstimates)
    return column


@every_loss
def test_without_noise_everything_is_what_numpy_says(loss: Loss) -> None:
    group, values = rows(5000)
    plan = plan_of(loss, 2)
    true = true_summary(plan, counted(plan, group, values))
    x, kind = values["x"], values["kind"]
    own, shares = number_column(true), category_column(true).shares.estimate
    for row, chosen in enumerate((group == 0, group == 1, group >= 0)):
        there = np.clip(x[chosen & (x != NONE)], 0, 1000)
        assert true.number.estimate[row] == pytest.approx(chosen.sum())
        assert own.mean.estimate[row] == pytest.approx(there.mean())
        assert own.deviation.estimate[row] == pytest.approx(there.std())
        assert own.missing.estimate[row] == pytest.approx((x[chosen] == NONE).mean())
        assert own.at_upper is not None
        assert own.at_upper.estimate[row] == pytest.approx((there == 1000).mean(), abs=1e-9)
        assert shares[row, :3] == pytest.approx(np.bincount(kind[chosen], minlength=3) / chosen.sum())
        exact = np.quantile(there, QUANTILES, method="inverted_cdf")
        # Within the cell of 17 numbers.
        assert np.abs(own.quantiles.estimate[row] - exact).max() <= 17


@every_loss
@pytest.mark.parametrize("people", [6, 60, 600])
def test_what_is_told_does_not_contradict_itself(people: int, loss: Loss) -> None:
    group, values = rows(people)
    plan = plan_of(loss, 3)
    lower, upper = plan.lines["x"].edges
    exact = counted(plan, group, values)
    for seed in range(20):
        told = noisy(plan, exact, seed)
        own, kinds = number_column(told), category_column(told)
        assert told.number.estimate[:3].sum() == pytest.approx(told.number.estimate[3])
        counts = kinds.counts.estimate
        assert counts[:3].sum(axis=0) == pytest.approx(counts[3])
        assert counts.sum(axis=1) == pytest.approx(told.number.estimate)
        known = ~np.isnan(kinds.shares.estimate).all(axis=1)
        assert kinds.shares.estimate[known].sum(axis=1) == pytest.approx(1)
        known = ~np.isnan(own.mean.estimate)
        assert (np.diff(own.quantiles.estimate[known], axis=1) >= 0).all()
        density, mean = own.density[known], own.mean.estimate[known]
        assert density.min(initial=0) >= 0
        assert density.sum(axis=1) == pytest.approx(1)
        assert (density @ lower - 1e-6 <= mean).all() and (mean <= density @ upper + 1e-6).all()
        for interval in (told.number, told.share, kinds.shares, own.mean, own.deviation, own.quantiles):
            assert _holds(interval, interval.estimate).all()


@pytest.mark.slow
@every_loss
def test_the_intervals_of_quantiles_begin_and_end_in_order(loss: Loss) -> None:
    """Of a heap at one value the upper quartile's interval once began below the median's."""
    random, plan = np.random.default_rng(3), plan_of(loss, columns=(NUMBER,))
    heaped = np.where(random.random(400) < 0.6, 250, random.integers(0, 1001, 400))
    exact = counted(plan, np.zeros(400, dtype=np.int64), {"x": heaped})
    for seed in range(200):
        own = number_column(noisy(plan, exact, seed)).quantiles
        known = ~np.isnan(own.lower[:, 0])
        assert all((np.diff(end[known], axis=1) >= 0).all() for end in (own.lower, own.upper))


def repeated(plan: SummaryPlan, exact: Integers, runs: int) -> Integers:
    """The groups of a plan so many times, as if they were groups of their own."""
    return np.concatenate([np.tile(part, (runs, 1)).ravel() for part in split_values(plan, exact)])


def _holds(interval: Interval, truth: np.ndarray | float) -> np.ndarray:
    """Whether intervals hold it; one that tells nothing holds everything."""
    outside: np.ndarray = (truth < interval.lower - 1e-9) | (interval.upper + 1e-9 < truth)
    return ~outside


SHAPES: dict[str, Callable[[np.random.Generator, int], Integers]] = {
    "even": lambda r, n: r.integers(0, 1001, n),
    "skewed": lambda r, n: np.minimum(r.geometric(0.02, n), 1000),
    "two ends": lambda r, n: np.where(r.random(n) < 0.9, 0, 1000),
    "one value": lambda r, n: np.full(n, 503),
    "spikes": lambda r, n: np.array([0, 40, 41, 640])[r.integers(0, 4, n)],
    "half missing": lambda r, n: np.where(r.random(n) < 0.5, NONE, r.integers(0, 300, n)),
}


@pytest.mark.slow
@pytest.mark.sampled
@every_loss
@pytest.mark.parametrize("people", [15, 120, 2000])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth_in_95_percent(shape: str, people: int, loss: Loss) -> None:
    """Each group is a run. All that is told is looked at, some 20 numbers a case."""
    x = SHAPES[shape](np.random.default_rng(3), people)
    kind = np.minimum(np.arange(people) // 2, 2)
    one, plan = plan_of(loss), plan_of(loss, RUNS)
    alone = counted(one, np.zeros(people, dtype=np.int64), {"x": x, "kind": kind})
    sums, parts = (
        [table.sums for table in one.tables],
        np.split(alone, np.cumsum([t.sums for t in one.tables])[:-1]),
    )
    assert len(sums) == len(parts)
    told = noisy(plan, np.concatenate([np.tile(part, RUNS) for part in parts]))
    own, kinds = number_column(told), category_column(told)
    there = x[x != NONE]
    checks = [
        (told.number, people), (own.number, len(there)), (own.missing, 1 - len(there) / people),
        (own.mean, there.mean()), (own.deviation, there.std()),
        (own.at_lower, (there == 0).mean()), (own.at_upper, (there == 1000).mean()),
    ]  # fmt: skip
    exact = np.quantile(there, QUANTILES, method="inverted_cdf")
    checks += [(_at(own.quantiles, place), exact[place]) for place in range(5)]
    shares = np.bincount(kind, minlength=5) / people
    checks += [(_at(kinds.shares, cell), shares[cell]) for cell in range(5)]
    checks += [(_at(kinds.counts, cell), people * shares[cell]) for cell in range(5)]
    for place, (interval, truth) in enumerate(checks):
        assert interval is not None
        assert _holds(interval, truth)[:RUNS].mean() >= least(RUNS), place


def _at(interval: Interval, place: int) -> Interval:
    return Interval(interval.estimate[:, place], interval.lower[:, place], interval.upper[:, place])


@pytest.mark.slow
@every_loss
def test_intervals_of_differences_hold_the_truth(loss: Loss) -> None:
    """Groups of 40, 400 and 800 people, side by side in many runs."""
    runs, (_, values) = RUNS // 4, rows(1240, 9)
    group = np.searchsorted([40, 440], np.arange(1240), side="right")
    one, many = plan_of(loss, 3), plan_of(loss, 3 * runs)
    exact = counted(one, group, values)
    told, true = noisy(many, repeated(one, exact, runs)), true_summary(one, exact)
    for column, right in zip(told.columns, true.columns, strict=True):
        for first, second in ((0, 1), (1, 2), (2, 0)):
            truth = difference(right, first, second)
            found = [difference(column, 3 * run + first, 3 * run + second) for run in range(runs)]
            plain = [_holds(own.plain, truth.plain.estimate) for own in found]
            standardised = [_holds(own.standardised, truth.standardised.estimate) for own in found]
            assert np.mean(plain, axis=0).min() >= least(runs)
            assert np.mean(standardised, axis=0).min() >= least(runs)


@pytest.mark.slow
@every_loss
def test_intervals_of_everybody_hold_the_truth(loss: Loss) -> None:
    """Of three groups added up, one of which is nobody."""
    runs, (group, values) = RUNS // 20, rows(400, 9)
    plan = plan_of(loss, 3)
    exact = counted(plan, group, values)
    true = true_summary(plan, exact)
    held = []
    for seed in range(runs):
        told = noisy(plan, exact, seed)
        own, truth = number_column(told), number_column(true)
        names = ("total", "mean", "deviation", "number")
        hits = [_holds(getattr(own, name), getattr(truth, name).estimate)[-1] for name in names]
        shares = _holds(category_column(told).shares, category_column(true).shares.estimate)
        held.append([*hits, *shares[-1]])
    assert np.mean(held, axis=0).min() >= least(runs)


@pytest.mark.parametrize("definition", list(Definition))
def test_shares_are_those_of_a_numerical_optimum(definition: Definition) -> None:
    energies = np.array([1.0, 0.125, 30.0, 4.0, 1e-3])
    power = 2 if definition is Definition.PURE else 1

    def error(logs: np.ndarray) -> float:
        parts = np.exp(logs) / np.exp(logs).sum()
        return float(np.log((energies / parts**power).sum()))

    found = minimize(error, np.zeros(5), tol=1e-12)
    shares = best_shares(energies.tolist(), definition)
    assert sum(shares) == 1
    assert np.array(shares, dtype=float) == pytest.approx(np.exp(found.x) / np.exp(found.x).sum(), rel=1e-3)


@pytest.mark.parametrize("level", [0.95, 0.9525, 0.9975])
def test_no_weighted_sum_of_noise_reaches_farther_than_one_noise(level: float) -> None:
    """Its quantile by the characteristic function, over its standard error; wide noise, whose steps do not count."""
    law = TABLES.plan(Domain(()), [KIND], (), LOSSES["pure"], 10).tables[0].noise
    random = np.random.default_rng(1)
    for terms in (1, 2, 3, 5, 20):
        for _ in range(5):
            weights = random.random(terms) ** 3 + 1e-3
            farthest = weighted_half_width(law, tuple(weights.tolist()), 1, level)
            error = law.standard_error * float(np.linalg.norm(weights))
            assert farthest - weights.sum() <= 1.002 * reach(law, level) * error


@every_loss
def test_a_column_that_matters_twice_has_more_of_the_loss(loss: Loss) -> None:
    columns = [NUMBER, KIND, replace(KIND, name="other")]
    plain, twice = (
        TABLES.composed(Domain(()), columns, names, loss, 10, COUNTED) for names in ((), ("kind",))
    )
    ratio = [float(b.share / a.share) for a, b in zip(plain.tables, twice.tables, strict=True)]
    root = 2 ** (1 / 3 if loss.definition is Definition.PURE else 1 / 2)
    assert ratio[3] / ratio[4] == pytest.approx(root, rel=1e-3)
    assert ratio[0] == pytest.approx(ratio[4], rel=1e-3) and ratio[0] < 1


@every_loss
def test_intervals_are_as_wide_as_expected(loss: Loss) -> None:
    random = np.random.default_rng(2)
    x, kind = random.integers(0, 1001, 4000), random.integers(0, 3, 4000)
    plan = plan_of(loss)
    told = noisy(plan, counted(plan, np.zeros(4000, dtype=np.int64), {"x": x, "kind": kind}))
    own, (number, category) = number_column(told), expectations(plan, 4000)

    def half(interval: Interval) -> float:
        return float((interval.upper - interval.lower).max() / 2)

    assert half(told.number) == pytest.approx(number_half_width(plan))
    assert number.mean is not None and category.share is not None
    assert 0.7 * number.mean <= half(own.mean) <= number.mean
    assert half(own.deviation) == pytest.approx(number.deviation, rel=0.3)
    assert half(category_column(told).shares) <= category.share * 1.01
    share, mean = typical(plan, 4000)
    assert share == category.share and mean == pytest.approx(number.mean / 1000)
    assert all(own.says_nothing for own in expectations(plan, 5))


@every_loss
@pytest.mark.parametrize("people", [300, 4000])
def test_medians_are_as_sure_as_expected(people: int, loss: Loss) -> None:
    """On average over noise and over tables whose values are spread evenly."""
    random, plan, halves = np.random.default_rng(4), plan_of(loss), []
    for seed in range(40):
        x, kind = random.integers(0, 1001, people), random.integers(0, 3, people)
        told = noisy(plan, counted(plan, np.zeros(people, dtype=np.int64), {"x": x, "kind": kind}), seed)
        ends = number_column(told).quantiles
        halves.append((ends.upper[0, 2] - ends.lower[0, 2]) / 2)
    number, _category = expectations(plan, people)
    assert np.mean(halves) == pytest.approx(number.quantile, rel=0.2)


def test_a_plan_is_read_as_it_was_written() -> None:
    columns = [NUMBER, KIND, Date("day", lower=dt.date(1990, 1, 1))]
    plan = TABLES.plan(Domain((Boolean("g"),)), columns, ("kind",), LOSSES["zcdp"], 100)
    assert SummaryPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(
    ("groups", "columns", "message"),
    [
        ((), [], "between 1 and 500"),
        ((Integer("g", lower=1, upper=10**6),), [KIND], "1,000,000 groups"),
        ((Boolean("a"), Boolean("b")), [KIND], "at most one column"),
        ((KIND,), [KIND], "says the groups"),
        ((), [Categorical("c", values=tuple(map(str, range(10_001))))], "at most 10,000"),
        ((), [KIND, NUMBER, KIND], "kind is chosen twice"),
    ],
)
def test_what_cannot_be_told_is_refused_before_anything_is_read(
    groups: tuple[Attribute, ...], columns: list[Attribute], message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        TABLES.plan(Domain(groups), columns, (), LOSSES["pure"], 100)


def test_sums_beyond_64_bits_are_refused() -> None:
    with pytest.raises(PlanError, match="exceed 64 bits"):
        TABLES.plan(Domain(()), [NUMBER], (), LOSSES["pure"], 10**12)
    with pytest.raises(PlanError, match="ε = 1e-10 is too small"):
        TABLES.plan(Domain(()), [KIND], (), Loss(Definition.PURE, Fraction(1, 10**10)), 10)


def test_a_column_that_there_is_not_and_people_who_cannot_be_are_refused() -> None:
    with pytest.raises(PlanError, match="sex is to matter twice"):
        TABLES.plan(Domain(()), COLUMNS, ("x", "sex"), LOSSES["pure"], 100)
    for people, message in ((None, "about how many"), (-5, "at least one person, not -5")):
        with pytest.raises(PlanError, match=message):
            TABLES.plan(Domain(()), COLUMNS, (), LOSSES["zcdp"], people)


@pytest.mark.parametrize(
    "attribute",
    [Integer("x", True, 0, 199_999), Integer("x", True, -5, 200_004), Real("x", True, 0, 12_345.67, 10)],
)
def test_bounds_are_said_to_be_where_values_at_a_bound_are_counted(attribute: Integer | Real) -> None:
    """Whole steps of 2, 5 and 1 end short of the upper bound, which has a cell of its own."""
    line = LineColumn.of(attribute)
    assert line.measured.top < attribute.upper
    assert tuple(map(float, line.bound_texts)) == (line.edges[0][0], line.edges[0][-1])


def test_a_difference_without_an_interval_has_no_estimate() -> None:
    """At the upper end all of one group and nobody of the other have a value: standardised, that is infinite."""
    shares = Interval(*(np.array(part)[:, None] for part in ([0.95, 0.0], [0.5, 0.0], [1.0, 0.3])))
    told = difference(CategoryEstimates(counts=shares, shares=shares, measured_shares=shares), 0, 1)
    assert told.plain.estimate == pytest.approx(0.95) and told.plain.upper <= 1
    own = told.standardised
    assert np.isnan([own.estimate, own.lower, own.upper]).all()


@every_loss
def test_of_two_values_the_deviation_is_that_of_the_mean(loss: Loss) -> None:
    group, values = rows(60)
    plan = plan_of(loss, 2, (Integer("x", True, 0, 1),))
    exact = counted(plan, group, {"x": values["x"] % 2})
    for seed in range(20):
        own = noisy(plan, exact, seed).columns[0]
        assert isinstance(own, NumberEstimates)
        known = ~np.isnan(own.mean.estimate)
        mean = own.mean.estimate[known]
        assert own.deviation.estimate[known] == pytest.approx(np.sqrt(mean * (1 - mean)), abs=1e-6)
