"""What exact sums say without noise, in the form of estimates: for comparisons, which are the curator's alone."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.moments.estimates import Interval
from mechanisms.summary.column_estimates import CategoryEstimates, NumberEstimates, Steps, Summary
from mechanisms.summary.estimates import of_rows
from mechanisms.summary.fusion import Model
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.rows import rows_of


def true_summary(plan: SummaryPlan, values: Integers) -> Summary:
    """From `exact_values`: every interval is the truth alone; NaN of a group of nobody.

    Values are as they are counted: means by whole steps, quantiles spread evenly over each cell.
    """
    model = Model(plan)
    exact = of_rows(rows_of(model, values, law=None))
    return Summary(
        _without_width(exact.number),
        _without_width(exact.share),
        tuple(map(_column, exact.columns)),
        exact.levels,
    )


def _without_width(interval: Interval) -> Interval:
    return Interval(interval.estimate, interval.estimate, interval.estimate)


def _column(column: CategoryEstimates | NumberEstimates) -> CategoryEstimates | NumberEstimates:
    def bound(interval: Interval | None) -> Interval | None:
        return _without_width(interval) if interval else None

    if isinstance(column, CategoryEstimates):
        return CategoryEstimates(*map(_without_width, (column.counts, column.shares, column.shares)))
    return NumberEstimates(
        _without_width(column.number),
        _without_width(column.missing),
        bound(column.total),
        _without_width(column.mean),
        _without_width(column.mean),
        _without_width(column.deviation),
        _without_width(column.quantiles),
        bound(column.at_lower),
        bound(column.at_upper),
        column.density,
        Steps(column.steps.edges, _without_width(column.steps.shares)),
    )
