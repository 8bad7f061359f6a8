"""Sums that are rounded so that they and their noise fit 64 bits: their errors, and how far one person moves them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.domain import Boolean, Date, Domain, Integer
from mechanisms.moments.column import MAX_STEPS, MeasuredColumn
from mechanisms.moments.mechanism import FINEST_ROUNDED, exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.summary.counts import split_values
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import MOMENTS
from tests.mechanisms.moments.measuring import BERNSTEIN, NOBODY, ONE, RHO, column, held, powers_of, repeated
from tests.mechanisms.summary.counting import NONE, counted

every_unit = pytest.mark.parametrize(
    "unit", [PrivacyUnit(), PrivacyUnit(max_rows=3), PrivacyUnit(Neighbours.REPLACE_ONE)], ids=str
)


def test_sums_are_rounded_where_exact_ones_or_their_noise_would_leave_64_bits() -> None:
    """A row's square of 100,000 steps is 10^10: too large for 10^9 people, or for the noise of ε = 0.001."""
    wide, tiny = column(0, MAX_STEPS), Loss(Definition.PURE, Fraction(1, 1000))
    assert BERNSTEIN.plan(NOBODY, [wide], 2, ONE, 10**6).columns[0].rounded_by == 1
    for loss, people in ((ONE, 10**9), (ONE, None), (tiny, 100), (RHO, 10**9)):
        planned = BERNSTEIN.plan(NOBODY, [wide], 2, loss, people).columns[0]
        assert planned.rounded_by == MAX_STEPS and planned.unit >= FINEST_ROUNDED


def five(upper: int) -> list[MeasuredColumn]:
    """Columns that are declared alike."""
    return [MeasuredColumn.of(Integer(f"x{i}", lower=0, upper=upper)) for i in range(5)]


@pytest.mark.parametrize(
    "loss", [Loss(Definition.PURE, Fraction(1, 100)), Loss(Definition.ZCDP, Fraction(1, 10**5))]
)
def test_rounded_sums_have_the_errors_of_exact_ones(loss: Loss) -> None:
    """A million people between 0 and 100,000: intervals hold, as wide as those of a coarser step that needs none."""
    x = np.random.default_rng(1).integers(0, MAX_STEPS + 1, 10**6)
    fine = BERNSTEIN.plan(NOBODY, five(MAX_STEPS), 2, loss, 10**6)
    coarse = BERNSTEIN.plan(NOBODY, five(MAX_STEPS // 100), 2, loss, 10**6)
    assert (fine.columns[0].rounded_by, coarse.columns[0].rounded_by) == (MAX_STEPS, 1)
    told = repeated(fine, powers_of(x, MAX_STEPS).repeat(5, axis=0), 300)
    others = repeated(coarse, powers_of(x // 100, MAX_STEPS // 100).repeat(5, axis=0), 300)
    assert told.deviation is not None and others.deviation is not None
    for interval, truth in ((told.number, 10**6), (told.mean, x.mean()), (told.deviation, x.std())):
        # A true 95 % falls below it with a chance of 1e-3.
        assert held(interval, float(truth)) >= 0.9
    wide, narrow = (np.median(each.mean.upper - each.mean.lower) for each in (told, others))
    assert wide == pytest.approx(100 * narrow, rel=0.02)


def powers(values: list[int | None], groups: list[int], top: int) -> np.ndarray:
    """(1, 2, 6) of rows of two groups; None of one without a value."""
    table = np.zeros((1, 2, 6), dtype=object)
    for v, group in zip(values, groups, strict=True):
        table[0, group] += [0, 0, 0, 1, 0, 0] if v is None else [1, v, v * v, 0, int(v == 0), int(v == top)]
    return table


@every_unit
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_no_person_moves_rounded_sums_further_than_stated(loss: Loss, degree: int, unit: PrivacyUnit) -> None:
    """Whatever rows there are besides: of a hundred tables a person's rows are added, or replaced by others."""
    top, random = 1009, np.random.default_rng(1)
    plan = BERNSTEIN.plan(Domain((Boolean("g"),)), [column(0, top)], degree, replace(loss, unit=unit), 10)
    plan = _coarse(plan, top)
    [planned] = plan.columns

    def drawn(rows: int) -> np.ndarray:
        values = [None if v > top else int(v) for v in random.integers(0, top + 20, rows)]
        ends = [0 if random.random() < 0.3 else v for v in values]
        return powers(ends, random.integers(0, 2, rows).tolist(), top)

    for _table in range(100):
        others, before, after = drawn(7), drawn(unit.max_rows), drawn(unit.max_rows)
        if unit.neighbours is Neighbours.ADD_REMOVE:
            before = 0 * before
        apart = [
            abs(int(d))
            for d in (exact_sums(plan, others + after) - exact_sums(plan, others + before)).ravel()
        ]
        assert sum(apart) <= planned.sensitivity.l1
        assert sum(d * d for d in apart) <= planned.sensitivity.l2_squared


def _coarse(plan: MomentsPlan, top: int) -> MomentsPlan:
    """The same with units so small that rounding matters: what the plan states of them is worked out as for others."""
    [planned] = plan.columns
    power = top ** (plan.degree - 1)
    unit = power * planned.basis.divisor
    coarse = replace(planned, unit=unit, at_bound=unit // 8, rounded_by=top)
    moved = coarse.moved(plan.degree, plan.loss.unit)
    return replace(plan, columns=(replace(coarse, sensitivity=moved, noise=law_for(plan.loss, moved)),))


@every_unit
@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_no_person_moves_the_rounded_moments_of_a_summary_further_than_stated(
    loss: Loss, unit: PrivacyUnit
) -> None:
    top, random = 1009, np.random.default_rng(1)
    columns, groups = [Integer("x", True, 0, top)], Domain((Boolean("g"),))
    plan = ColumnTables().plan(groups, columns, (), replace(loss, unit=unit), 100)
    place = next(i for i, table in enumerate(plan.tables) if table.kind == MOMENTS)
    table = plan.tables[place]
    assert table.rounded_by == top

    def measured(group: np.ndarray, x: np.ndarray) -> np.ndarray:
        return split_values(plan, counted(plan, group, {"x": x}))[place]

    def drawn(rows: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.where(
            random.random(rows) < 0.5, random.choice([0, top, NONE], rows), random.integers(0, top, rows)
        )
        return random.integers(0, 2, rows), x

    for _table in range(100):
        others, before, after = drawn(7), drawn(unit.max_rows), drawn(unit.max_rows)
        first = others if unit.neighbours is Neighbours.ADD_REMOVE else _both(others, before)
        apart = [abs(int(d)) for d in (measured(*_both(others, after)) - measured(*first)).ravel()]
        # Under ρ no noise goes by it.
        assert loss is RHO or sum(apart) <= table.sensitivity.l1
        assert sum(d * d for d in apart) <= table.sensitivity.l2_squared


def _both(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def test_a_summary_of_fine_steps_is_made_at_a_hundredth() -> None:
    """Forty columns in 10,000 steps and dates of a century at ε = 0.01: the noise is some 10,000 people, not 10^12."""
    columns = [Integer(f"x{i}", True, 0, 10_000) for i in range(40)]
    dates = [Date("d", True, dt.date(1900, 1, 1), dt.date(2020, 1, 1), "year")]
    loss = Loss(Definition.PURE, Fraction(1, 100))
    assert ColumnTables().plan(Domain(()), [*columns, *dates], (), loss, 10**6)
