"""The number of people measured once for all tables: as good as ResidualPlanner, and taken where it is better."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Attribute, Boolean, Categorical, Domain, Integer
from mechanisms.matrix.marginals.errors import residual_costs
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.summary.fusion import Fused, Model
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.objective import weighted_error
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.running_totals import centred_optimum, centred_running_totals

LOSS = Loss(Definition.ZCDP, Fraction(1, 10))
GROUPS = Domain((Categorical("g", values=("a", "b", "c")),))
KINDS: list[Attribute] = [Categorical(name, values=tuple(name)) for name in ("ab", "cdef", "ghijklmn")]
MIXED: list[Attribute] = [Integer("x", True, 0, 40), *KINDS]


def composed(columns: list[Attribute], loss: Loss = LOSS, *, centred: bool = True) -> SummaryPlan:
    return ColumnTables().composed(GROUPS, columns, (), loss, 100, centred=centred)


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


@pytest.mark.parametrize("centred", [False, True])
def test_covariances_are_those_of_the_estimates(centred: bool) -> None:
    """Estimates are linear: what each measured number adds to them, times its noise's variance, twice."""
    plan = ColumnTables().composed(Domain(()), MIXED, (), LOSS, 100, centred=centred)
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
    joint, apart = (weighted_error(composed(many, centred=centred)) for centred in (True, False))
    assert joint < 0.75 * apart
    assert ColumnTables().plan(GROUPS, many, (), LOSS, 100).is_joint
    replaced = Loss(Definition.ZCDP, LOSS.amount, PrivacyUnit(Neighbours.REPLACE_ONE))
    for loss in (replaced, Loss(Definition.PURE, Fraction(1))):
        assert not ColumnTables().plan(GROUPS, many, (), loss, 100).is_joint
