"""Counts of rows in memory, by NumPy alone: what a counting layer gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.domain import Integer
from mechanisms.summary.counts import ColumnCounts, exact_values, readings
from mechanisms.summary.plan import SummaryPlan

# A value that is not there.
NONE = -(10**9)


def counted(plan: SummaryPlan, group: Integers, values: Mapping[str, Integers]) -> Integers:
    """Exact values of a plan. group: (rows,) cells of the groups. values: (rows,) by column, `NONE` where missing.

    Of categories they are cells, of columns of whole numbers the numbers.
    """
    number = np.bincount(group, minlength=plan.groups.size)
    return exact_values(
        plan, number, [_column(plan, own.cells.name, group, values) for own in readings(plan)]
    )


def _column(plan: SummaryPlan, name: str, group: Integers, values: Mapping[str, Integers]) -> ColumnCounts:
    own, line = values[name], plan.lines.get(name)
    if line is None:
        (cells,) = (r.cells.size for r in readings(plan) if r.cells.name == name)
        return ColumnCounts(_table(group, own, plan.groups.size, cells))
    attribute = line.attribute
    assert isinstance(attribute, Integer)
    there, x = own != NONE, np.clip(own, attribute.lower, attribute.upper)
    cell = np.where(there, np.searchsorted(line.edges[0], x, side="right") - 1, line.cells)
    v = np.minimum((x - attribute.lower) // int(line.measured.step), line.measured.steps)
    powers = [
        [*(_sum(v[there & (group == g)], k) for k in range(3)), int((~there & (group == g)).sum())]
        for g in range(plan.groups.size)
    ]
    return ColumnCounts(_table(group, cell, plan.groups.size, line.cells + 1), np.array(powers, dtype=object))


def _sum(v: Integers, power: int) -> int:
    return int((v**power).sum())


def _table(group: Integers, cell: Integers, groups: int, cells: int) -> Integers:
    return np.bincount(group * cells + cell, minlength=groups * cells).reshape(groups, cells)
