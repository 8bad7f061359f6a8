"""What readers add up of a measurement, which costs nothing: people of some groups, and of one column some cells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain, Integer
from mechanisms.moments.estimates import Interval, cut_to, with_estimate
from mechanisms.moments.ratios import linear
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.rows import RowEstimates, measured_rows


@dataclass(frozen=True)
class PickedGroups:
    """Some groups together. rows: estimates, of which one row is all of them."""

    rows: RowEstimates
    row: int

    @classmethod
    def of(cls, plan: SummaryPlan, values: Integers, groups: Integers) -> PickedGroups:
        """Of several as if there were no others; of one what the table tells of it, which counts how many it tells.

        values: (plan.size,), measured. groups: their places, each once.
        """
        rows = measured_rows(plan, values)
        if len(groups) == 1:
            return cls(rows, int(groups[0]))
        picked = replace(plan, groups=Domain((Integer("picked", lower=1, upper=len(groups)),)))
        own = replace(
            rows, plan=picked, fused=rows.fused.of_groups(groups), group_people=rows.group_people[groups]
        )
        return cls(own, picked.rows - 1)

    def of_columns(self, names: Collection[str]) -> PickedGroups:
        """The same where only some columns are told; all tables tell the number of people."""
        columns = tuple(column for column in self.rows.plan.columns if column.name in names)
        return replace(self, rows=replace(self.rows, plan=replace(self.rows.plan, columns=columns)))

    def people(self, column: str = "", cells: Integers | None = None) -> Interval:
        """People of all groups together, (1,): all of them, or those in some cells of one column.

        cells: their places in the column's reading, each once. What is told of several is their sum as it was
        measured, cut to what is possible: possible cells have no noise below 0, so that in a sum of many it does not
        cancel.
        """
        rows, here = self.rows, slice(self.row, self.row + 1)
        if cells is None:
            return self._interval(rows.people[here], rows.number[here], rows.number_variance[here])
        number = rows.with_all(rows.fused.cells[column])[here][:, cells].sum(axis=1)
        of_number = float(rows.model.number_variances(rows.times)[self.row])
        variance = rows.times[here] * rows.model.cells[column].sum_variance(cells, of_number)
        if len(cells) == 1 and column not in rows.plan.lines:
            return self._interval(
                rows.with_all(rows.possible_cells(column))[here][:, cells[0]], number, variance
            )
        return self._interval(np.rint(np.clip(number, 0, rows.people[here])), number, variance)

    def _interval(self, estimate: Floats, number: Floats, variance: Floats) -> Interval:
        interval = linear(number, variance, self.rows.reaches[self.row])
        return with_estimate(estimate, cut_to(interval, 0, self.rows.most), 0, self.rows.most)
