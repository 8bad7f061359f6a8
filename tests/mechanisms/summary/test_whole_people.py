"""People are whole, values of whole numbers are; and a public number of rows is what groups add up to."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.summary.column_estimates import CategoryEstimates, NumberEstimates, Summary
from mechanisms.summary.estimates import estimates
from mechanisms.summary.expectation import number_half_width
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.picked import PickedGroups
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.rows import measured_rows
from mechanisms.summary.statistics import Statistic, is_counted, statistics
from mechanisms.summary.truth import true_summary
from tests.mechanisms.moments.measuring import held
from tests.mechanisms.summary.counting import NONE, counted

TABLES = ColumnTables()
GROUPS = Domain((Integer("g", lower=1, upper=3),))
COLUMNS = (
    Integer("x", True, 0, 5000),
    Categorical("kind", True, values=("a", "b", "c")),
    Integer("age", True, 0, 90),
)
SIZES = (300, 40, 6)
TOTAL = sum(SIZES)
REPLACED = PrivacyUnit(Neighbours.REPLACE_ONE)
LOSSES = {
    "pure": Loss(Definition.PURE, Fraction(1)),
    "zcdp": Loss(Definition.ZCDP, Fraction(1, 10)),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def planned(loss: Loss, total: int | None = None) -> SummaryPlan:
    unit = PrivacyUnit() if total is None else REPLACED
    return TABLES.plan(GROUPS, COLUMNS, (), replace(loss, unit=unit), TOTAL, total)


def exact(plan: SummaryPlan) -> Integers:
    random = np.random.default_rng(1)
    group = np.repeat(np.arange(3), SIZES)
    x = np.where(random.random(TOTAL) < 0.1, NONE, random.integers(0, 5001, TOTAL))
    values = {"x": x, "kind": random.integers(0, 5, TOTAL), "age": random.integers(20, 60, TOTAL)}
    return counted(plan, group, values)


def measured(plan: SummaryPlan, run: int) -> Integers:
    return TABLES.measure(plan, exact(plan), Noise(np.random.default_rng(run).bytes)).values


def is_whole(numbers: Floats) -> bool:
    return bool((np.isnan(numbers) | (numbers == np.rint(numbers))).all())


@every_loss
@pytest.mark.parametrize("total", [None, TOTAL], ids=["private", "public"])
def test_numbers_of_people_are_whole_and_add_up(loss: Loss, total: int | None) -> None:
    plan = planned(loss, total)
    for run in range(3):
        summary = estimates(plan, measured(plan, run))
        assert is_whole(np.array([s.estimate for s in statistics(plan, summary) if is_counted(s)]))
        own = [column.counts for column in summary.columns if isinstance(column, CategoryEstimates)]
        for counts in own:
            assert (counts.estimate.sum(axis=1) == summary.number.estimate).all()
            assert (counts.estimate[:3].sum(axis=0) == counts.estimate[3]).all()
        assert summary.number.estimate[:3].sum() == summary.number.estimate[3]


@every_loss
def test_quantiles_of_whole_numbers_are_whole_and_so_are_their_ends(loss: Loss) -> None:
    plan = planned(loss)
    for column in estimates(plan, measured(plan, 1)).columns:
        if isinstance(column, NumberEstimates):
            own = column.quantiles
            assert is_whole(own.estimate) and is_whole(own.lower) and is_whole(own.upper)


def test_quantiles_of_dates_are_days() -> None:
    """A hundred years are cells of a year each."""
    day = Date("day", lower=dt.date(1900, 1, 1), upper=dt.date(1999, 12, 31), step="year")
    plan = TABLES.plan(Domain(()), [day], (), LOSSES["pure"], 1000)
    values = np.full(plan.size, 10**9, dtype=np.int64)
    [column] = estimates(
        plan, TABLES.measure(plan, values, Noise(np.random.default_rng(1).bytes)).values
    ).columns
    assert isinstance(column, NumberEstimates) and is_whole(column.quantiles.estimate)


@every_loss
def test_groups_add_up_to_a_public_number_of_rows(loss: Loss) -> None:
    plan = planned(loss, TOTAL)
    for run in range(5):
        values = measured(plan, run)
        number = estimates(plan, values).number
        assert number.estimate[:3].sum() == number.estimate[3] == number.lower[3] == number.upper[3] == TOTAL
        assert (number.upper <= TOTAL).all() and (number.lower[:3] < number.upper[:3]).all()
        everybody, two = (PickedGroups.of(plan, values, np.arange(groups)).people() for groups in (3, 2))
        assert everybody.lower[0] == everybody.upper[0] == TOTAL
        assert two.estimate[0] == number.estimate[:2].sum()


@every_loss
def test_margins_with_a_public_number_hold_and_are_narrower(loss: Loss) -> None:
    """400 runs: a true 95 % falls below 0.907 with a chance of 1e-4."""
    plan, values, told = planned(loss, TOTAL), exact(planned(loss, TOTAL)), []
    private = replace(plan, total=None)
    for run in range(400):
        noisy = TABLES.measure(plan, values, Noise(np.random.default_rng(run).bytes)).values
        told.append(measured_rows(plan, noisy))
    half = told[0].reach * np.sqrt(told[0].number_variance)
    off = np.abs(np.array([rows.number for rows in told]) - [*SIZES, TOTAL])
    assert (off <= half + 1e-6).mean(axis=0).min() >= 0.907 and half[3] < 1e-9
    assert number_half_width(plan) == pytest.approx(number_half_width(private) * (2 / 3) ** 0.5)


@pytest.mark.slow
@every_loss
def test_everything_told_with_a_public_number_holds(loss: Loss) -> None:
    """Each number of each group and of everybody in 100 runs: a true 95 % falls below 0.83 with a chance of 5e-6."""
    plan = planned(loss, TOTAL)
    values = exact(plan)
    true = list(statistics(plan, true_summary(plan, values)))
    told = [_told(plan, values, run) for run in range(100)]
    for runs, right in zip(zip(*told, strict=True), true, strict=True):
        if not (np.isnan(right.estimate) or right.statistic.startswith("quantile")):
            held_in = [not (right.estimate < own.lower or own.upper < right.estimate) for own in runs]
            assert np.mean(held_in) >= 0.83, right


def _told(plan: SummaryPlan, values: Integers, run: int) -> list[Statistic]:
    noisy = TABLES.measure(plan, values, Noise(np.random.default_rng(run).bytes)).values
    return list(statistics(plan, estimates(plan, noisy)))


def test_one_public_group_is_known_for_certain() -> None:
    plan = TABLES.plan(Domain(()), COLUMNS, (), replace(LOSSES["pure"], unit=REPLACED), None, TOTAL)
    assert (plan.people, number_half_width(plan)) == (TOTAL, 0)
    values = {"x": np.full(TOTAL, 7), "kind": np.zeros(TOTAL, dtype=np.int64), "age": np.full(TOTAL, 30)}
    noisy = counted(plan, np.zeros(TOTAL, dtype=np.int64), values)
    told: Summary = estimates(plan, TABLES.measure(plan, noisy, Noise(np.random.default_rng(1).bytes)).values)
    number, kinds = told.number, told.columns[1]
    assert number.lower[0] == number.estimate[0] == number.upper[0] == TOTAL
    assert isinstance(kinds, CategoryEstimates) and kinds.counts.upper.max() == TOTAL
    assert held(kinds.counts, np.array([[TOTAL, 0, 0, 0, 0]])) >= 0.6


def test_the_public_number_is_part_of_the_plan_where_it_is_public_alone() -> None:
    plan = planned(LOSSES["pure"], TOTAL)
    assert SummaryPlan.from_json(plan.to_json()) == plan == TABLES.again(plan)
    assert "total" not in planned(LOSSES["pure"]).to_json()
    with pytest.raises(PlanError, match="private"):
        TABLES.plan(GROUPS, COLUMNS, (), LOSSES["pure"], TOTAL, TOTAL)
    assert TABLES.again(replace(planned(LOSSES["pure"]), total=TOTAL)).total is None


@pytest.mark.parametrize(
    ("upper", "values"),
    [
        (1000, [1, 2, 3] * 500),
        (500, [1] * 900),
        (99_999, [100] * 900),
        (99_999, [0, 100] * 500),
        (10**6, [5000] * 900),
    ],
)
def test_no_mean_is_moved_to_where_cells_would_have_it(upper: int, values: list[int]) -> None:
    """Values in one of 62 blocks: quartiles drawn evenly in it once moved a mean of 1.4 to 6.9, however many people."""
    loss, x = Loss(Definition.PURE, Fraction(1)), np.array(values)
    plan = ColumnTables().plan(Domain(()), [Integer("x", True, 0, upper)], (), loss, len(x))
    exact = counted(plan, np.zeros(len(x), dtype=np.int64), {"x": x})
    [true] = true_summary(plan, exact).columns
    assert isinstance(true, NumberEstimates)
    step = float(plan.lines["x"].measured.step)
    # Of whole steps the middle counts. Values all alike are as far apart as quartiles that are told one by one.
    assert true.mean.estimate[0] == pytest.approx(x.mean(), abs=step / 2)
    assert true.deviation.estimate[0] == pytest.approx(x.std(), abs=max(step, 1e-4 * upper))
    found = [
        estimates(plan, ColumnTables().measure(plan, exact, Noise(np.random.default_rng(seed).bytes)).values)
        for seed in range(20)
    ]
    means = [own.columns[0].mean for own in found]
    # Noise moves it either way by as much.
    off = np.mean([mean.estimate[0] - x.mean() for mean in means])
    assert abs(off) <= np.mean([mean.upper[0] - mean.lower[0] for mean in means]) / 2


@every_loss
def test_a_sum_of_many_cells_is_told_as_it_was_measured(loss: Loss) -> None:
    """Few of 4,000 people are above 60: cells made possible one by one once added up to three times as many."""
    column, random = Integer("age", True, 0, 100), np.random.default_rng(2)
    plan = TABLES.plan(Domain(()), [column, Boolean("b")], (), Loss(loss.definition, loss.amount / 8), 4000)
    age = np.minimum(random.integers(0, 62, 4000), 100)
    exact = counted(plan, np.zeros(4000, dtype=np.int64), {"age": age, "b": age % 2})
    old, told = np.arange(60, 101), []
    for run in range(60):
        values = TABLES.measure(plan, exact, Noise(np.random.default_rng(run).bytes)).values
        told.append(PickedGroups.of(plan, values, np.arange(1)).people("age", old))
    people = np.array([own.estimate[0] for own in told])
    half = np.array([(own.upper[0] - own.lower[0]) / 2 for own in told])
    truth = int((age >= 60).sum())
    assert abs(people.mean() - truth) < 0.35 * half.mean()
    assert np.mean([own.lower[0] <= truth <= own.upper[0] for own in told]) >= 0.85


@every_loss
def test_of_one_group_readers_are_told_what_the_table_tells(loss: Loss) -> None:
    plan = planned(loss, None)
    values = measured(plan, 1)
    table = estimates(plan, values)
    for group in range(3):
        picked = PickedGroups.of(plan, values, np.array([group]))
        number = picked.people()
        assert (number.estimate[0], number.upper[0]) == (
            table.number.estimate[group], table.number.upper[group]
        )  # fmt: skip


@pytest.mark.slow
@every_loss
def test_everybody_is_what_was_measured_however_many_groups_have_nobody(loss: Loss) -> None:
    """Of 600 people in one of twenty groups 719 were once told, since each group by itself was cut at 0."""
    groups = Domain((Integer("g", lower=1, upper=20),))
    plan = TABLES.plan(groups, COLUMNS, (), loss, 600)
    values = {"x": np.full(600, 100), "kind": np.zeros(600, dtype=np.int64), "age": np.full(600, 30)}
    table = counted(plan, np.zeros(600, dtype=np.int64), values)
    everybody, largest, errors = [], [], []
    for run in range(60):
        noisy = TABLES.measure(plan, table, Noise(np.random.default_rng(run).bytes)).values
        number = estimates(plan, noisy).number
        assert number.estimate[:20].sum() == number.estimate[20] and number.estimate.min() >= 0
        everybody.append(number.estimate[20])
        largest.append(number.estimate[0])
        errors.append((number.upper[20] - number.lower[20]) / 2)
    for told in (everybody, largest):
        assert abs(np.mean(told) - 600) <= 0.25 * np.mean(errors)
