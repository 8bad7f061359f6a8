"""The rows of a summary: each group and everybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.moments.reported_groups import HALF_A_PERSON, Families
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import reach as reach_of
from mechanisms.postprocess import lattice_simplex
from mechanisms.summary.fusion import Fused, Model
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.possible import integer_cells, nearest_possible


@dataclass(frozen=True)
class CellNoise:
    """The noise of one table's cells in each row.

    given: (cells, cells) covariance of a group's cells, given its number of people. gain: (cells,), how they move with
    it. times: (rows,) of how many groups a row is the sum. number: (rows,) the number's variance, over `times`.
    """

    given: Floats
    gain: Floats
    times: Floats
    number: Floats

    def between(self, first: Floats, second: Floats) -> Floats:
        """(rows,) the covariance of two sums of cells. first, second: (cells,) weights."""
        covariance: Floats = self.covariances(first[None], second[None])[:, 0]
        return covariance

    def covariances(self, first: Floats, second: Floats) -> Floats:
        """(rows, k) the same of several sums, each with its counterpart. first, second: (k, cells), or (1, cells)."""
        moved = (first @ self.gain) * (second @ self.gain)
        given = ((first @ self.given) * second).sum(axis=1)
        covariances: Floats = self.times[:, None] * (given + np.outer(self.number, moved))
        return covariances


@dataclass(frozen=True)
class RowEstimates:
    """One measurement's best linear estimates, by groups and added up.

    group_people: (groups,) of each group that are told. law: of the noise; None if there is none.
    """

    plan: SummaryPlan
    model: Model
    fused: Fused
    group_people: Floats
    law: NoiseLaw | None

    @property
    def reach(self) -> float:
        """Of the noise of 95 %, in standard errors."""
        return reach_of(self.law) if self.law else 0.0

    @cached_property
    def families(self) -> Families:
        """Of the groups."""
        return Families.of(self.plan.groups)

    def somebody(self, numbers: Floats, variances: Floats) -> Flags:
        """(groups,) which seem to have somebody. numbers, variances: of that, as measured, (rows,) each."""
        own, spread = (part[: self.plan.groups.size] for part in (numbers, variances))
        reported: Flags = own > HALF_A_PERSON
        return (
            self.families.have_somebody(own, self.reach * np.sqrt(spread), self.law) if self.law else reported
        )

    @cached_property
    def reported(self) -> Flags:
        """(groups,) those of which anything is told besides their number, see `reported_groups`."""
        return self.somebody(self.number, self.number_variance)

    @cached_property
    def reaches(self) -> Floats:
        """(rows,) of the noise, so that 95 % of the intervals of groups that are told hold."""
        return self._reaches(self.reported)

    def reaches_of(self, numbers: Floats, variances: Floats) -> Floats:
        """The same of ratios to such numbers, (rows,) each; NaN where nothing is told."""
        reported = self.reported & self.somebody(numbers, variances)
        groups = np.where(reported, self._reaches(reported)[: len(reported)], np.nan)
        return np.append(groups, self.reach)[: self.plan.rows]

    @cached_property
    def reaches_of_people(self) -> Floats:
        """Of ratios to the people of each row, with a value or without."""
        return self.reaches_of(self.number, self.number_variance)

    @property
    def levels(self) -> Floats:
        """(groups,) of the intervals of their numbers."""
        return self.families.levels(self.reported)

    def _reaches(self, reported: Flags) -> Floats:
        """Of groups when some are told, and of all of them together, which nobody chose."""
        widened = self.families.widened(reported, self.law) if self.law else np.ones(len(reported))
        return self.reach * np.append(widened, 1.0)[: self.plan.rows]

    @property
    def times(self) -> Floats:
        """(rows,) of how many groups each is the sum."""
        groups = self.plan.groups.size
        return np.array([*[1.0] * groups, float(groups)][: self.plan.rows])

    @property
    def number(self) -> Floats:
        """(rows,) people, unbiased; what is known for certain is told exactly."""
        certain = self.number_variance == 0
        return np.where(certain, self.people, self.with_all(self.fused.number))

    @property
    def number_variance(self) -> Floats:
        """(rows,)."""
        return self.times * self.model.number_variances(self.times)

    @property
    def variance_in_columns(self) -> Floats:
        """(rows,) the same over `times`, as columns' margins have it.

        Where the number of rows is public, what that tells of one of several groups is left out: noise of two groups is
        then not independent, and differences between them reach as far as these margins say, or less.
        """
        own = self.model.number_variances(self.times)
        own[:-1] = self.model.number_variance
        return own

    @property
    def most(self) -> float:
        """People of all groups, where that is public."""
        return np.inf if self.plan.total is None else float(self.plan.total)

    @property
    def people(self) -> Floats:
        """(rows,) whole people, none below 0."""
        return self.with_all(self.group_people)

    def with_all(self, groups: Floats) -> Floats:
        """The groups and, if there are several, their sum as a last row."""
        rows: Floats = np.concatenate([groups, groups.sum(axis=0, keepdims=True)])[: self.plan.rows]
        return rows

    def possible_cells(self, name: str) -> Floats:
        """(groups, cells) whole people of a table that there could be, near the best estimates."""
        return integer_cells(nearest_possible(self.fused.cells[name], self.group_people), self.group_people)

    def possible_line(self, cells: Floats) -> Floats:
        """(groups, cells + 1) of a column of numbers: whole people with a value, and in the last cell without one."""
        missing = np.rint(nearest_possible(cells, self.group_people)[:, -1])
        return np.column_stack([nearest_possible(cells[:, :-1], self.group_people - missing), missing])

    def noise(self, name: str) -> CellNoise:
        """Of the cells of a column of numbers."""
        given = self.model.covariance(name, 0.0)
        return CellNoise(given, self.model.cells[name].gain, self.times, self.variance_in_columns)


def measured_rows(plan: SummaryPlan, values: Integers) -> RowEstimates:
    """values: (plan.size,), measured."""
    model = Model(plan)
    return rows_of(model, values, model.law)


def rows_of(model: Model, values: Integers, law: NoiseLaw | None) -> RowEstimates:
    """From values with noise of such a law, or from exact ones."""
    fused = Fused.of(model, values)
    rows = RowEstimates(model.plan, model, fused, np.rint(np.maximum(fused.number, 0)), law)
    return replace(rows, group_people=_integer_people(rows))


def _integer_people(rows: RowEstimates) -> Floats:
    """(groups,) whole people, which add up to those of everybody as they were measured, or to a public number.

    Groups that are told have what was measured. Those that may have nobody share what is left, as near to what was
    measured as can be: cut at 0 each by itself, they would add up to too many.
    """
    number, reported, total = rows.fused.number, rows.reported, rows.plan.total
    if total is None:
        total = max(round(float(number.sum())), 0)
    left = total - np.rint(number[reported]).sum()
    if reported.all() or left < 0:
        return lattice_simplex(number, total).astype(np.float64)
    integers: Floats = np.rint(number)
    integers[~reported] = lattice_simplex(number[~reported], int(left))
    return integers
