"""A plan that is read again: whatever floats found it, its whole weights and shares alone decide what it promises."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Attribute, Categorical, Domain, Integer
from mechanisms.summary.estimates import of_rows
from mechanisms.summary.mechanism import COUNTED, JOINT, ColumnTables
from mechanisms.summary.picked import PickedGroups
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.running_totals import RunningTotals

LOSSES = (Loss(Definition.ZCDP, Fraction(1, 10)), Loss(Definition.PURE, Fraction(1)))
GROUPS = Domain((Categorical("g", values=("a", "b", "c")),))
COLUMNS: list[Attribute] = [Integer("x", True, 0, 40), Categorical("kind", values=tuple("cdef"))]
TABLES = ColumnTables()


def planned(loss: Loss, columns: list[Attribute] = COLUMNS) -> SummaryPlan:
    kind = JOINT if loss.definition is Definition.ZCDP else COUNTED
    return TABLES.composed(GROUPS, columns, (), loss, 100, kind)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_plan_of_another_processor_is_as_good_as_one_made_here(loss: Loss) -> None:
    """Its optimiser and its shares ended a rounding apart."""
    plan = planned(loss)
    [(cells, found)] = plan.strategies.items()
    # Each row of a centred strategy still adds up to 0.
    moved = tuple((row[0] - 1, row[1] + 1, *row[2:]) for row in found.rows)
    shares = [table.share - Fraction(1, 2**21) for table in plan.tables]
    elsewhere = replace(
        plan,
        strategies={cells: RunningTotals(moved, found.missing)},
        tables=tuple(replace(t, share=share) for t, share in zip(plan.tables, shares, strict=True)),
    )
    again = TABLES.again(elsewhere)
    assert again != elsewhere and TABLES.again(again) == again
    assert TABLES.again(plan) == plan


def test_shares_of_more_than_the_loss_and_strategies_of_other_cells_are_refused() -> None:
    plan = planned(LOSSES[0])
    doubled = tuple(replace(table, share=2 * table.share) for table in plan.tables)
    with pytest.raises(ValueError, match="at most 1"):
        TABLES.again(replace(plan, tables=doubled))
    [own] = plan.strategies.values()
    with pytest.raises(ValueError, match="the cells that it is stated for"):
        TABLES.again(replace(plan, strategies={own.cells + 1: own}))


@pytest.mark.slow
def test_what_a_reader_adds_up_of_many_columns_takes_a_tenth_of_a_second() -> None:
    """200 columns, half of them numbers; of a question whose plan was read before."""
    columns: list[Attribute] = [
        Integer(f"x{i}", True, 0, 40 + i % 4) if i % 2 else Categorical(f"x{i}", True, values=tuple("abcd"))
        for i in range(200)
    ]
    plan = planned(LOSSES[0], columns)
    written, values = json.dumps(plan.to_json()), np.full(plan.size, 10**6, dtype=np.int64)

    def asked() -> float:
        begin = time.process_time()
        picked = PickedGroups.of(SummaryPlan.from_json(json.loads(written)), values, np.array([0, 2]))
        picked.people()
        picked.people("x3", np.arange(5))
        of_rows(picked.of_columns({f"x{i}" for i in range(1, 12, 2)}).rows)
        return time.process_time() - begin

    assert min(asked() for _ in range(4)) < 0.1
