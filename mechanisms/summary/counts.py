"""What is counted of the rows: the one thing that a summary has to be told of them."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.arrays import Integers
from mechanisms.domain import Attribute
from mechanisms.moments.column import MeasuredColumn
from mechanisms.summary.plan import SummaryPlan


@dataclass(frozen=True)
class Reading:
    """What to count for a column: the rows of each group in each cell of `cells`, for numbers also sums of steps.

    cells: an attribute that any counting of groups and cells can read: the column's own, or a line's `reading`.
    steps: whole steps v to add up (`records.power_sums` takes its `reading`); None of categories.
    """

    cells: Attribute
    steps: MeasuredColumn | None


@dataclass(frozen=True)
class ColumnCounts:
    """Exact counts of a column. cells: (groups, cells) int64, in the order of the reading's cells, missing last.

    powers: (groups, 3) Python integers in an object array: how many rows have a value, Σv, Σv²; None of categories.
    (It is the first three of `mechanisms.moments.mechanism.POWERS`.)
    """

    cells: Integers
    powers: object | None = None


def readings(plan: SummaryPlan) -> list[Reading]:
    """What to count of each of the plan's columns, in their order."""
    raise NotImplementedError


def exact_values(plan: SummaryPlan, number: Integers, counts: list[ColumnCounts]) -> Integers:
    """Everything that is measured, without noise: (plan.size,) int64, of which `measure` takes a copy with noise.

    number: (groups,) int64, rows of each group. counts: of each of the plan's columns, in their order.
    Raises ValueError for other shapes.
    """
    raise NotImplementedError
