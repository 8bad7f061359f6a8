"""The rows of a summary: each group and everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import reach as reach_of
from mechanisms.summary.fusion import Fused, Model
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.possible import nearest_possible


@dataclass(frozen=True)
class RowEstimates:
    """One measurement's best linear estimates, by groups and added up. law: of the noise; None if there is none."""

    plan: SummaryPlan
    model: Model
    fused: Fused
    law: NoiseLaw | None

    @property
    def reach(self) -> float:
        """Of the noise of 95 %, in standard errors."""
        return reach_of(self.law) if self.law else 0.0

    @property
    def times(self) -> Floats:
        """(rows,) of how many groups each is the sum."""
        groups = self.plan.groups.size
        return np.array([*[1.0] * groups, float(groups)][: self.plan.rows])

    @property
    def number(self) -> Floats:
        """(rows,) people, unbiased."""
        return self.with_all(self.fused.number)

    @property
    def number_variance(self) -> Floats:
        """(rows,)."""
        return self.times * self.model.number_variance

    @property
    def possible_number(self) -> Floats:
        """(rows,) people, none below 0."""
        return self.with_all(np.maximum(self.fused.number, 0))

    def with_all(self, groups: Floats) -> Floats:
        """The groups and, if there are several, their sum as a last row."""
        rows: Floats = np.concatenate([groups, groups.sum(axis=0, keepdims=True)])[: self.plan.rows]
        return rows

    def possible_cells(self, name: str) -> Floats:
        """(groups, cells) of a table that there could be, near the best estimates."""
        return nearest_possible(self.fused.cells[name], np.maximum(self.fused.number, 0))


def measured_rows(plan: SummaryPlan, values: Integers) -> RowEstimates:
    """values: (plan.size,), measured."""
    model = Model(plan)
    return RowEstimates(plan, model, Fused.of(model, values), model.law)
