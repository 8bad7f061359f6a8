"""Brute force: no person moves any table of a summary further than its plan says, and one moves it so far."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mechanisms.accounting import Definition, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.sensitivity import Sensitivity
from mechanisms.summary.counts import split_values
from mechanisms.summary.mechanism import APART, COUNTED, JOINT, ColumnTables
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.running_totals import best_running_totals
from tests.mechanisms.summary.counting import NONE, counted
from tests.mechanisms.test_sensitivity import every_unit, farthest, losses


def outermost(plan: SummaryPlan) -> list[tuple[int, int, int]]:
    """Rows whose values have the longest column of the strategy for x, and the two that are farthest apart."""
    line = plan.lines["x"]
    A = plan.strategies[line.cells].matrix
    gram = A.T @ A
    norms = np.diag(gram)
    apart = norms[:, None] + norms - 2 * gram
    values = [*map(int, line.edges[0]), NONE]
    longest, pair = values[norms.argmax()], np.unravel_index(apart.argmax(), apart.shape)
    if apart.max() < 2 * norms.max():
        return [(0, longest, 0), (1, longest, 3)]
    return [(0, longest, 0), *((0, values[place], 3) for place in pair)]


@every_unit
@pytest.mark.parametrize("top", [1, 3, 300])
def test_a_summary_states_exactly_how_far_a_person_moves_each_table(top: int, unit: PrivacyUnit) -> None:
    """Rows of two groups with values at the bounds, with that of a strategy's longest column, and without one.

    The shares that tables have of the loss add up to all of it.
    """
    columns = [Integer("x", True, 0, top), Categorical("kind", closed=True, values=("a", "b"))]
    rows = [(0, 0, 0), (0, top, 1), (0, NONE, 2), (1, NONE, 1)]
    groups = Domain((Boolean("g"),))
    zcdp = losses(frozenset({Definition.ZCDP}), unit)
    for loss, kind in (
        *product(losses(ColumnTables.definitions, unit), (APART, COUNTED)),
        *product(zcdp, (JOINT,)),
    ):
        plan = ColumnTables().composed(groups, columns, (), loss, 10, kind)
        measured = [
            split_values(plan, counted(plan, np.array([g]), {"x": np.array([v]), "kind": np.array([k])}))
            for g, v, k in (*rows, *outermost(plan))
        ]
        for table, own in zip(plan.tables, zip(*measured, strict=True), strict=True):
            moved = farthest(np.array([sums.ravel() for sums in own]).T, unit)
            if loss.definition is Definition.PURE:
                assert moved.l1 == table.sensitivity.l1
            else:
                assert moved.l2_squared == table.sensitivity.l2_squared
            part = replace(plan.loss, amount=plan.loss.amount * table.share)
            assert table.noise == law_for(part, table.sensitivity)
        assert sum(table.share for table in plan.tables) == 1


@pytest.mark.parametrize("steps", [1, 2, 3, 40, 10_000])
@pytest.mark.parametrize("definition", list(Definition))
def test_no_value_adds_more_to_the_moments_than_those_at_the_bounds(
    steps: int, definition: Definition
) -> None:
    """Every value there is, in Python's integers; and no two are farther apart than both bounds."""
    curved = 2 if definition is Definition.PURE else 4
    rows = [(steps * (2 * v - steps), curved * v * (steps - v)) for v in range(steps + 1)]
    power = 1 if definition is Definition.PURE else 2
    norms = [sum(abs(x) ** power for x in row) for row in rows]
    assert max(norms) == norms[0] == norms[-1] == steps ** (2 * power)


@pytest.mark.slow
@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("cells", [2, 3, 16, 17, 74, 130])
def test_no_column_of_a_strategy_is_longer_than_it_says(cells: int, definition: Definition) -> None:
    """By each column, and the distances of the first to all, in Python's integers; and cells are told without bias."""
    strategy = best_running_totals(cells, definition)
    columns = [[int(x) for x in column] for column in strategy.matrix.T]
    norms = [max(sum(abs(x) ** power for x in column) for column in columns) for power in (1, 2)]
    stated = Sensitivity(max(norms[0], strategy.missing), max(norms[1], strategy.missing**2))
    assert strategy.column == stated
    for column in columns[1:]:
        moved = [abs(x - y) for x, y in zip(columns[0], column, strict=True)]
        assert sum(moved) <= strategy.replaced.l1
        assert sum(x * x for x in moved) <= strategy.replaced.l2_squared
    told = strategy.measured(np.eye(cells + 1, dtype=np.int64)) @ strategy.inverse.T
    assert told == pytest.approx(np.eye(cells + 1), abs=1e-9)
