"""What is told of each column from a measurement, with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.arrays import Floats, Integers
from mechanisms.moments.estimates import Interval
from mechanisms.summary.plan import SummaryPlan

# The quantiles that are told, in this order.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class CategoryEstimates:
    """Of a column of categories, (plan.rows, attribute.size) each, cells in the order of `attribute.labels()`.

    counts: people. shares: of all people of the group, those without a value included; they add up to 1 with the cell
    for missing values. NaN where a group is too small to tell.
    """

    counts: Interval
    shares: Interval


@dataclass(frozen=True)
class NumberEstimates:
    """Of a column of numbers or dates, (plan.rows,) each; in the column's unit, dates in days since 1970.

    number: people with a value. missing: the share of the group that has none. mean, deviation: of values cut to the
    bounds. quantiles: (plan.rows, 5), `QUANTILES`, rising. at_lower, at_upper: shares of `number` at or beyond a bound.
    density: (plan.rows, cells) shares of `number` in each cell of `plan.lines[name]`, >= 0, adding up to 1; without
    intervals, for a small chart. NaN where a group is too small to tell.
    """

    number: Interval
    missing: Interval
    mean: Interval
    deviation: Interval
    quantiles: Interval
    at_lower: Interval
    at_upper: Interval
    density: Floats


@dataclass(frozen=True)
class Summary:
    """Everything that is told. Row i < plan.groups.size is a group, the last row everybody; one row without groups.

    number: (plan.rows,) people of each group. share: (plan.rows,) of all people. columns: in the plan's order.
    """

    number: Interval
    share: Interval
    columns: tuple[CategoryEstimates | NumberEstimates, ...]


def estimates(plan: SummaryPlan, values: Integers) -> Summary:
    """From a measurement, (plan.size,): the same every time."""
    raise NotImplementedError
