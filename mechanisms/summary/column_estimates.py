"""What is told of each column, in the form that pages, files and comparisons read."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval

# The quantiles that are told, in this order.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class CategoryEstimates:
    """Of a column of categories, (plan.rows, cells) each, in the order of its reading's cells (`counts.readings`).

    counts: people. shares: of all people of the group, those without a value included; they add up to 1 with the cell
    for missing values. measured_shares: with the noise that moved them, be it beyond 0 or 1: what differences of groups
    are made from. NaN where a group is too small to tell.
    """

    counts: Interval
    shares: Interval
    measured_shares: Interval


@dataclass(frozen=True)
class Steps:
    """Steps of equal width over a column: their edges, (steps + 1,), and shares of those with a value, (rows, steps).

    The first and the last may reach beyond the bounds.
    """

    edges: Floats
    shares: Interval


@dataclass(frozen=True)
class NumberEstimates:
    """Of a column of numbers or dates, (plan.rows,) each; in the column's unit, dates in days since 1970.

    number: people with a value. missing: the share of the group that has none. total, mean, deviation: of values cut to
    the bounds; dates have no total. measured_mean: with the noise that moved it, be it beyond a bound. quantiles:
    (plan.rows, 5), `QUANTILES`, rising. at_lower, at_upper: shares of `number` at or beyond a bound; None of dates.
    density: (plan.rows, cells) shares of `number` in each cell of `plan.lines[name]`, >= 0, adding up to 1, of which
    quantiles, mean and deviation are made; without intervals. steps: what is shown of how values lie. NaN where a group
    is too small to tell.
    """

    number: Interval
    missing: Interval
    total: Interval | None
    mean: Interval
    measured_mean: Interval
    deviation: Interval
    quantiles: Interval
    at_lower: Interval | None
    at_upper: Interval | None
    density: Floats
    steps: Steps


@dataclass(frozen=True)
class Summary:
    """Everything that is told. Row i < plan.groups.size is a group, the last row everybody; one row without groups.

    number: (plan.rows,) people of each group. share: (plan.rows,) of all people. columns: in the plan's order.
    levels: (groups,) of the intervals of their numbers, higher where few are told (`moments.reported_groups`).
    """

    number: Interval
    share: Interval
    columns: tuple[CategoryEstimates | NumberEstimates, ...]
    levels: Floats
