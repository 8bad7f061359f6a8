"""Where the number of rows is public, groups and those without a value add up to it, with margins that say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.moments.basis import Bernstein
from mechanisms.moments.estimates import ColumnEstimates, Sums, added_up, by_groups
from mechanisms.moments.mechanism import exact_sums
from mechanisms.moments.picked import picked
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from tests.mechanisms.moments.measuring import (
    BERNSTEIN,
    NOBODY,
    ONE,
    PUBLIC,
    column,
    held,
    powers_of,
)

SIZES, MISSING = (60, 25, 0), (5, 0, 10)
VALUES = [np.random.default_rng(2).integers(0, 101, size) for size in SIZES]
TOTAL = sum(SIZES) + sum(MISSING)
POWERS = np.concatenate([powers_of(v, 100, m) for v, m in zip(VALUES, MISSING, strict=True)], axis=1)
every_loss = pytest.mark.parametrize("loss", PUBLIC, ids=["pure", "zcdp"])


def planned(loss: Loss, total: int | None = TOTAL) -> MomentsPlan:
    return BERNSTEIN.plan(Domain((Integer("g", lower=1, upper=3),)), [column(0, 100)], 2, loss, TOTAL, total)


def measured(plan: MomentsPlan, run: int) -> np.ndarray:
    noise = Noise(np.random.default_rng(run).bytes)
    return BERNSTEIN.measure(plan, exact_sums(plan, POWERS), noise).values


def people(told: ColumnEstimates) -> float:
    return float(told.number.estimate.sum() + told.missing.estimate.sum())


@every_loss
def test_groups_and_those_without_a_value_add_up_to_it(loss: Loss) -> None:
    plan = planned(loss)
    for run in range(3):
        sums = measured(plan, run)
        [groups], [in_all] = by_groups(plan, sums), added_up(plan, sums)
        assert people(groups) == people(in_all) == TOTAL
        assert groups.number.estimate.sum() == in_all.number.estimate[0]
        for own in (groups.number, groups.missing, in_all.number, in_all.missing):
            assert (own.lower < own.upper).all() and (own.upper <= TOTAL).all() and (own.estimate >= 0).all()
            assert (own.estimate == np.rint(own.estimate)).all()
        [(number, _total, _mean)] = picked(plan, sums, np.array([0, 2]))
        assert number.estimate == groups.number.estimate[[0, 2]].sum()


@every_loss
def test_margins_hold_and_are_narrower(loss: Loss) -> None:
    """4,000 runs: a true 95 % falls below 0.939 with a chance of 1e-3. In all, three of four noises cancel."""
    plan, private = planned(loss), planned(loss, None)
    [exact], [of] = exact_sums(plan, POWERS), plan.columns
    noise = (
        Noise(np.random.default_rng(11).bytes).draw(of.noise, 4000 * exact.size).reshape(4000, *exact.shape)
    )
    own = Sums.of(plan, of)
    assert own.public is not None
    sums = np.array([own.public.added(each, own.people) for each in (exact + noise).astype(np.float64)])
    for times, of_groups, values, missing in (
        (1, sums[:, 0], VALUES[0], MISSING[0]),
        (2, sums[:, :2].sum(axis=1), np.concatenate(VALUES[:2]), sum(MISSING[:2])),
        (3, sums.sum(axis=1), np.concatenate(VALUES), sum(MISSING)),
    ):
        told = Sums.of(plan, of, times)
        for weights, truth in (
            (told.number, len(values)),
            (told.missing, missing),
            (told.first, values.sum() / 100),
        ):
            assert 0.939 <= held(told.linear(of_groups, weights), truth) <= 0.965
        assert held(told.ratio(of_groups, told.first, told.number), values.mean() / 100) >= 0.939
        assert told.half_width(told.number) < Sums.of(private, of, times).half_width(told.number)
    half = Sums.of(private, of, 3).half_width(told.number)
    assert told.half_width(told.number) == pytest.approx(half / 2, rel=0.1)
    assert told.half_width(told.people) < 0.01


def test_one_group_whose_sums_are_plain_knows_it_too() -> None:
    """Its number is public whichever sums are measured."""
    plan = BERNSTEIN.plan(NOBODY, [column(0, 10)], 2, PUBLIC[0], 20, 20)
    plan = replace(plan, columns=(replace(plan.columns[0], basis=Bernstein()),))
    exact = exact_sums(plan, powers_of(np.array([3] * 15), 10, missing=5))
    for run in range(3):
        noise = Noise(np.random.default_rng(run).bytes)
        [told] = by_groups(plan, BERNSTEIN.measure(plan, exact, noise).values)
        assert people(told) == 20


def test_it_is_part_of_the_plan_where_it_is_public_alone() -> None:
    plan = planned(PUBLIC[0])
    assert MomentsPlan.from_json(plan.to_json()) == plan and plan.to_json()["total"] == TOTAL
    assert "total" not in planned(PUBLIC[0], None).to_json()
    for loss in (ONE, replace(PUBLIC[0], unit=PrivacyUnit(PUBLIC[0].unit.neighbours, 2))):
        with pytest.raises(PlanError, match="private"):
            planned(loss)
    with pytest.raises(PlanError, match="negative"):
        planned(PUBLIC[0], -1)
