"""What readers add up of a measurement, which costs nothing: people of some groups, and of one column some cells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from mechanisms.arrays import Integers
from mechanisms.domain import Domain, Integer
from mechanisms.moments.estimates import Interval, about, within
from mechanisms.moments.ratios import linear
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.rows import RowEstimates, measured_rows


def rows_of_groups(plan: SummaryPlan, values: Integers, groups: Integers) -> RowEstimates:
    """The measurement of some groups alone, as if there were no others: its last row is all of them together.

    values: (plan.size,), measured. groups: their places, each once.
    """
    several, rows = len(groups) > 1, measured_rows(plan, values)
    attributes = (Integer("picked", lower=1, upper=len(groups)),) if several else ()
    picked = replace(plan, groups=Domain(attributes))
    return replace(rows, plan=picked, fused=rows.fused.of_groups(groups), whole=rows.whole[groups])


def of_columns(rows: RowEstimates, names: Collection[str]) -> RowEstimates:
    """The same where only some columns are told; all tables tell the number of people."""
    columns = tuple(column for column in rows.plan.columns if column.name in names)
    return replace(rows, plan=replace(rows.plan, columns=columns))


def people_in(rows: RowEstimates, column: str = "", cells: Integers | None = None) -> Interval:
    """People of all groups together, (1,): all of them, or those in some cells of one column.

    cells: their places in the column's reading, each once.
    """
    if cells is None:
        number, possible, variance = rows.number[-1:], rows.people[-1:], rows.number_variance[-1]
    else:
        number = rows.fused.cells[column][:, cells].sum(keepdims=True)[0]
        possible = rows.possible_cells(column)[:, cells].sum(keepdims=True)[0]
        of_number = float(rows.model.number_variances(rows.times)[-1])
        variance = rows.times[-1] * rows.model.cells[column].sum_variance(cells, of_number)
    told = linear(number, variance, rows.reach)
    return about(possible, within(told, 0, rows.most), 0, rows.most)
