"""What is counted of the rows: the one thing that a summary has to be told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute
from mechanisms.moments.mechanism import LARGEST_SUM
from mechanisms.summary.line import LineColumn
from mechanisms.summary.plan import CELLS, LINE, SummaryPlan, TablePlan

# What one row adds in all: so much that its noise is as good as continuous.
FINEST = 2**14
# Of 4v(W - v), how much is measured: all of it costs nothing in L2, half of it nothing in L1.
CURVED = {Definition.PURE: 2, Definition.ZCDP: 4}


@dataclass(frozen=True)
class Reading:
    """What to count for a column: the rows of each group in each cell of `cells`, and of numbers sums of steps.

    cells: an attribute that leaves no row out, whose counts by groups any counting of two columns gives.
    steps: the attribute whose cells are whole steps v, of which `records.power_sums` gives sums; None of categories.
    """

    cells: Attribute
    steps: Attribute | None


@dataclass(frozen=True)
class ColumnCounts:
    """Exact counts of a column. cells: (groups, cells) int64, in the order of the reading's cells.

    powers: (groups, 3 or more) Python integers in an array of objects, the first of which say how many rows have a
    value, Σv and Σv², as `mechanisms.moments.mechanism.POWERS` begins; None of categories.
    """

    cells: Integers
    powers: np.ndarray | None = None


def reading(attribute: Attribute, line: LineColumn | None) -> Reading:
    """What to count for a column. A closed one of categories is opened: no row is left out of one table alone."""
    if line:
        return Reading(line.reading, line.measured.reading)
    if attribute.leaves_out:
        return Reading(replace(attribute, missing_cell=True, closed=False), None)
    return Reading(attribute, None)


def readings(plan: SummaryPlan) -> list[Reading]:
    """What to count of each of the plan's columns, in their order."""
    return [reading(column, plan.lines.get(column.name)) for column in plan.columns]


def exact_values(plan: SummaryPlan, number: Integers, counts: Sequence[ColumnCounts]) -> Integers:
    """Everything that is measured, without noise: (plan.size,) int64, table after table, group after group.

    number: (groups,) int64, rows of each group. counts: of each of the plan's columns, in their order.
    Raises ValueError for other shapes.
    """
    own = dict(zip((column.name for column in plan.columns), counts, strict=True))
    parts = [np.ravel(_exact(plan, table, number, own.get(table.name))) for table in plan.tables]
    values = np.concatenate(parts)
    if values.shape != (plan.size,):
        raise ValueError(f"counts must make {plan.size} numbers, got {values.size}")
    whole: Integers = np.clip(values, -LARGEST_SUM, LARGEST_SUM).astype(np.int64)
    return whole


def _exact(plan: SummaryPlan, table: TablePlan, number: Integers, own: ColumnCounts | None) -> np.ndarray:
    if own is None:
        return table.unit * number
    if table.kind == LINE:
        return plan.strategies[plan.lines[table.name].cells].measured(own.cells)
    if table.kind == CELLS or own.powers is None:
        return _departures(table, own.cells) if table.centred else table.unit * own.cells
    people, first, second = own.powers.astype(object).T[:3]
    steps = plan.lines[table.name].measured.steps
    times, curved = table.unit // steps**2, CURVED[plan.loss.definition]
    tilted = times * steps * (2 * first - steps * people)
    bent = times * curved * (steps * first - second)
    return np.stack([tilted, bent, table.unit * own.cells[:, -1].astype(object)], axis=1)


def _departures(table: TablePlan, cells: Integers) -> Integers:
    """Of each cell from an even spread of its group: what a row adds to its own cell, less as much over all cells."""
    evenly: Integers = table.unit // table.sums * cells.sum(axis=1, keepdims=True)
    return table.unit * cells - evenly


def split_values(plan: SummaryPlan, values: Integers) -> list[Integers]:
    """Each table's measured integers, (groups, sums)."""
    ends = np.cumsum([plan.groups.size * table.sums for table in plan.tables])[:-1]
    parts = zip(np.split(values, ends), plan.tables, strict=True)
    return [part.reshape(plan.groups.size, table.sums) for part, table in parts]
