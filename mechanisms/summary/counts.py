"""What is counted of the rows: the one thing that a summary has to be told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
# Counts of rows at whole steps, of all columns by groups: a quarter of a gigabyte.
MOST_STEPWISE = 2**25
# Of 4v(W - v), how much is measured: all of it costs nothing in L2, half of it nothing in L1.
CURVED = {Definition.PURE: 2, Definition.ZCDP: 4}


@dataclass(frozen=True)
class ColumnReading:
    """What to count for a column: the rows of each group in each cell of `cells`, and of numbers sums of steps.

    cells: an attribute that leaves no row out, whose counts by groups any counting of two columns gives.
    steps: the attribute whose cells are whole steps v, of which `records.power_sums` gives sums; None of categories.
    """

    cells: Attribute
    steps: Attribute | None

    def counted(self, steps: Mapping[str, Integers]) -> Attribute:
        """Which of both to count rows by, where `steps` are the columns that are counted step by step."""
        return self.steps if self.steps and self.cells.name in steps else self.cells


@dataclass(frozen=True)
class ColumnCounts:
    """Exact counts of a column. cells: (groups, cells) int64, in the order of the reading's cells.

    powers: (groups, 4 or more) Python integers in an array of objects, the first of which say how many rows have a
    value, Σv, Σv² and how many have none, as `mechanisms.moments.mechanism.POWERS` begins; None of categories. All
    of the same rows.
    """

    cells: Integers
    powers: np.ndarray | None = None

    @classmethod
    def of_steps(cls, cell_of_step: Integers, counts: Integers) -> ColumnCounts:
        """From the rows of each group at each whole step, (groups, W + 2), the last those without a value."""
        rows, v = counts[:, :-1], np.arange(len(cell_of_step))
        before = np.concatenate([np.zeros((len(rows), 1), dtype=np.int64), np.cumsum(rows, axis=1)], axis=1)
        ends = np.searchsorted(cell_of_step, np.arange(-1, cell_of_step[-1] + 1), side="right")
        cells = np.concatenate([np.diff(before[:, ends], axis=1), counts[:, -1:]], axis=1)
        # Sums that may not fit 64 bits are Python's.
        exact = rows.astype(object) if int(rows.sum()) * len(v) ** 2 > LARGEST_SUM else rows
        powers = [*(exact @ v**power for power in range(3)), counts[:, -1]]
        return cls(cells, np.stack(powers, axis=1).astype(object))

    @classmethod
    def of_cells(cls, sums: np.ndarray, *, has_steps: bool) -> ColumnCounts:
        """From (groups, cells, 3) rows, Σv and Σv² of each cell, Python integers; the last cell has no value."""
        cells = sums[..., 0]
        powers = np.column_stack([sums[:, :-1].sum(axis=1), cells[:, -1]]) if has_steps else None
        return cls(cells.astype(np.int64), powers)


def reading(attribute: Attribute, line: LineColumn | None) -> ColumnReading:
    """What to count for a column. A closed one of categories is opened: no row is left out of one table alone."""
    if line:
        return ColumnReading(line.reading, line.measured.reading)
    if attribute.leaves_out:
        return ColumnReading(replace(attribute, missing_cell=True, closed=False), None)
    return ColumnReading(attribute, None)


def readings(plan: SummaryPlan) -> list[ColumnReading]:
    """What to count of each of the plan's columns, in their order."""
    return [reading(column, plan.lines.get(column.name)) for column in plan.columns]


def stepwise(plan: SummaryPlan) -> dict[str, Integers]:
    """The columns of which rows may be counted at each whole step, from which all else follows: a cell of each step.

    It saves a reader a second pass, which adds up powers.
    """
    columns, places = {}, 0
    for name, line in plan.lines.items():
        cells = line.cell_of_step
        if cells is not None and places + plan.groups.size * len(cells) <= MOST_STEPWISE:
            places += plan.groups.size * len(cells)
            columns[name] = cells
    return columns


def column_counts(
    read: Sequence[ColumnReading],
    steps: Mapping[str, Integers],
    tables: Sequence[Integers],
    powers: np.ndarray,
) -> list[ColumnCounts]:
    """What was counted of each reading: tables of `Reading.counted`, power sums of those numbers without `steps`."""
    sums = iter(powers)
    return [
        ColumnCounts.of_steps(steps[reading.cells.name], table)
        if reading.cells.name in steps
        else ColumnCounts(table, next(sums) if reading.steps else None)
        for reading, table in zip(read, tables, strict=True)
    ]


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
    integers: Integers = np.clip(values, -LARGEST_SUM, LARGEST_SUM).astype(np.int64)
    return integers


def _exact(plan: SummaryPlan, table: TablePlan, number: Integers, own: ColumnCounts | None) -> np.ndarray:
    if own is None:
        return table.unit * number
    if table.kind == LINE:
        return plan.strategies[plan.lines[table.name].cells].measured(own.cells)
    if table.kind == CELLS or own.powers is None:
        return _departures(table, own.cells) if table.centred else table.unit * own.cells
    # All of one table come from one query, so that one row of a person is in them and no two.
    people, first, second, missing = own.powers.astype(object).T[:4]
    steps = plan.lines[table.name].measured.steps
    unit = table.unit * table.rounded_by
    times, curved = unit // steps**2, CURVED[plan.loss.definition]
    tilted = times * steps * (2 * first - steps * people)
    bent = times * curved * (steps * first - second)
    return np.stack([tilted, bent, unit * missing], axis=1) // table.rounded_by


def _departures(table: TablePlan, cells: Integers) -> Integers:
    """Of each cell from an even spread of its group: what a row adds to its own cell, less as much over all cells."""
    evenly: Integers = table.unit // table.sums * cells.sum(axis=1, keepdims=True)
    return table.unit * cells - evenly


def split_values(plan: SummaryPlan, values: Integers) -> list[Integers]:
    """Each table's measured integers, (groups, sums)."""
    ends = np.cumsum([plan.groups.size * table.sums for table in plan.tables])[:-1]
    parts = zip(np.split(values, ends), plan.tables, strict=True)
    return [part.reshape(plan.groups.size, table.sums) for part, table in parts]
