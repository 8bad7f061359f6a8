"""From a measurement to what is told: consistent estimates with 95 % intervals."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.moments.estimates import cut_to, with_estimate
from mechanisms.moments.ratios import Moment, linear, quotient, ratio
from mechanisms.summary.category_rows import category_rows
from mechanisms.summary.column_estimates import Summary
from mechanisms.summary.number_rows import number_rows
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.rows import RowEstimates, measured_rows


def estimates(plan: SummaryPlan, values: Integers) -> Summary:
    """Everything that is told of a measurement, (plan.size,): the same every time.

    Intervals are worked out from best linear estimates, as laws of the noise say. Estimates are then made into those of
    a possible table: whole people, none below 0, shares adding up to 1, groups to the whole (and to the number of rows
    where that is public), quantiles rising, and each mean one that values in the cells told could have. Where that
    leaves an interval, the interval is made longer.
    """
    return of_rows(measured_rows(plan, values))


def of_rows(rows: RowEstimates) -> Summary:
    """From best linear estimates."""
    number, counts, variance, most = rows.number, rows.people, rows.number_variance, rows.most
    # Of each group with all of them together: as much of the noise as theirs has of it.
    shared = rows.times * rows.model.number_variances(rows.times)[-1]
    shares = ratio(Moment(number, variance, shared), number[-1:], variance[-1:], rows.reaches)
    lines = rows.plan.lines
    return Summary(
        with_estimate(counts, cut_to(linear(number, variance, rows.reaches), 0, most), 0, most),
        with_estimate(quotient(counts, counts[-1:]), cut_to(shares, 0, 1), 0, 1),
        tuple(
            number_rows(rows, lines[a.name]) if a.name in lines else category_rows(rows, a.name)
            for a in rows.plan.columns
        ),
        rows.levels,
    )
