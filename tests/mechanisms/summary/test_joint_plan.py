"""The number of people measured once for all tables: as good as ResidualPlanner, and taken where it is better."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Attribute, Boolean, Categorical, Domain, Integer
from mechanisms.matrix.marginals.errors import residual_costs
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.summary.fusion import Fused, Model
from mechanisms.summary.mechanism import APART, COUNTED, JOINT, ColumnTables, PlanKind
from mechanisms.summary.objective import weighted_error
from mechanisms.summary.plan import CELLS, NUMBER, SummaryPlan
from mechanisms.summary.running_totals import centred_optimum, centred_running_totals

LOSS = Loss(Definition.ZCDP, Fraction(1, 10))
GROUPS = Domain((Categorical("g", values=("a", "b", "c")),))
KINDS: list[Attribute] = [Categorical(name, values=tuple(name)) for name in ("ab", "cdef", "ghijklmn")]
MIXED: list[Attribute] = [Integer("x", True, 0, 40), *KINDS]


def composed(columns: list[Attribute], loss: Loss = LOSS, kind: PlanKind = JOINT) -> SummaryPlan:
    return ColumnTables().composed(GROUPS, columns, (), loss, 100, kind)


def test_of_categories_its_error_is_that_of_residual_planner() -> None:
    """Its least total is (Σ √(v_R p_R))²/(2ρ). Weights are those of `objective`, whose shares count n a little more."""
    cells = [attribute.size for attribute in KINDS]
    number = 1 + sum((1 - 2 / m) / m for m in cells)
    requested = {(0,): number, **{(0, place): 1 / m for place, m in enumerate(cells, start=1)}}
    closed = MarginalSets.closed((GROUPS.size, *cells), requested)
    costs = residual_costs(closed, requested)
    least = float(np.sqrt(costs * closed.rests).sum() ** 2 / (2 * LOSS.amount))
    assert GROUPS.size * weighted_error(composed(KINDS)) == pytest.approx(least, rel=1e-4)


def test_the_line_has_a_proof_of_its_error_and_says_nothing_of_the_number() -> None:
    for cells in (2, 17, 130):
        assert centred_optimum(cells).gap < 2e-4
        strategy = centred_running_totals(cells)
        assert not strategy.matrix.sum(axis=1).any() and strategy.cells == cells
        told = strategy.matrix.T @ strategy.inverse.T
        assert told == pytest.approx(np.eye(cells + 1) - 1 / (cells + 1), abs=1e-9)


@pytest.mark.parametrize("kind", [APART, COUNTED, JOINT], ids=str)
def test_covariances_are_those_of_the_estimates(kind: PlanKind) -> None:
    """Estimates are linear: what each measured number adds to them, times its noise's variance, twice."""
    plan = ColumnTables().composed(Domain(()), MIXED, (), LOSS, 100, kind)
    model = Model(plan)
    noise = np.concatenate([np.full(table.sums, table.noise.variance) for table in plan.tables])
    moved = [Fused.of(model, row) for row in 10**6 * np.eye(plan.size, dtype=np.int64)]
    number = np.array([fused.number[0] for fused in moved]) / 10**6
    assert number**2 @ noise == pytest.approx(model.number_variance)
    for name in ("x", "cdef"):
        cells = np.array([fused.cells[name][0] for fused in moved]) / 10**6
        covariance = cells.T @ (noise[:, None] * cells)
        assert np.diag(covariance) == pytest.approx(model.variances(name))
        assert cells.T @ (noise * number) == pytest.approx(model.cells[name].gain * model.number_variance)
        some = np.array([0, 2, 3])
        stated = model.cells[name].sum_variance(some, model.number_variance)
        assert covariance[np.ix_(some, some)].sum() == pytest.approx(stated)
    assert covariance.sum() == pytest.approx(model.number_variance)


def test_the_better_plan_is_taken() -> None:
    many: list[Attribute] = [Boolean(f"b{place}") for place in range(20)]
    joint, apart = (weighted_error(composed(many, kind=kind)) for kind in (JOINT, COUNTED))
    assert joint < 0.75 * apart
    assert ColumnTables().plan(GROUPS, many, (), LOSS, 100).is_joint
    replaced = Loss(Definition.ZCDP, LOSS.amount, PrivacyUnit(Neighbours.REPLACE_ONE))
    for loss in (replaced, Loss(Definition.PURE, Fraction(1))):
        assert not ColumnTables().plan(GROUPS, many, (), loss, 100).is_joint


def test_nobody_pays_for_a_number_that_other_tables_tell_well_enough() -> None:
    """A few cells tell the number of people well, fifty of them badly."""
    loss = Loss(Definition.PURE, Fraction(1))
    fifty = Categorical("letter", values=tuple(map(str, range(50))))
    [alone] = ColumnTables().plan(Domain(()), KINDS[:1], (), loss, 100).tables
    assert alone.share == 1 and alone.kind == CELLS
    assert ColumnTables().plan(Domain(()), [fifty], (), loss, 100).tables[0].kind == NUMBER


@pytest.mark.parametrize("definition", list(Definition))
def test_a_public_number_of_rows_is_not_paid_for(definition: Definition) -> None:
    """Nobody's row changes it, so all of the loss is spent on what one does change."""
    loss = Loss(definition, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE))
    many: list[Attribute] = [Integer(f"x{place}", True, 0, 400) for place in range(40)]
    for columns in (KINDS, MIXED, many):
        plan = ColumnTables().plan(Domain(()), columns, (), loss, None, total=100)
        assert NUMBER not in {table.kind for table in plan.tables}
        assert Model(plan).number_error == 0


def test_a_plan_whose_tables_need_a_number_that_is_not_measured_is_refused() -> None:
    plan = composed(KINDS)
    without = tuple(table for table in plan.tables if table.kind != NUMBER)
    with pytest.raises(ValueError, match="need the numbers of the groups"):
        ColumnTables().again(replace(plan, tables=without))


@pytest.mark.parametrize("shares", [0.5, 0.8, 1.25, 2])
@pytest.mark.parametrize("columns", [KINDS, MIXED], ids=len)
def test_no_other_share_of_the_number_is_better(columns: list[Attribute], shares: float) -> None:
    """Of the plan that is taken under ε, and within 2 % of what any share of a number of its own would give."""
    loss = Loss(Definition.PURE, Fraction(1))
    taken = ColumnTables().plan(Domain(()), columns, (), loss, 100)
    counted = ColumnTables().composed(Domain(()), columns, (), loss, 100, COUNTED)
    own = counted.tables[0].share * Fraction(shares)
    rest = (1 - own) / (1 - counted.tables[0].share)
    parts = [own, *(table.share * rest for table in counted.tables[1:])]
    moved = tuple(replace(t, share=share) for t, share in zip(counted.tables, parts, strict=True))
    other = ColumnTables().again(replace(counted, tables=moved))
    assert weighted_error(taken) <= 1.02 * weighted_error(other)
