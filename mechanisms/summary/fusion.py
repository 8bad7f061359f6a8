"""Best linear estimates from all tables together: each tells how many people a group has, and all tell it better.

Let table c have unbiased estimates y_c of its cells with covariance Σ_c, and T_c = 1'y_c, which estimates the number n
of the group's people. Tables have independent noise. By least squares over all of them (Gauss, Markov) the number is
n̂ = Σ T_c/Var T_c over Σ 1/Var T_c, and the cells are x̂_c = y_c + g_c (n̂ - T_c) with g_c = Cov(y_c, T_c)/Var T_c, whose
sum is n̂: given n̂, y_c - g_c T_c, which is uncorrelated with T_c, is all there is. Hence Cov(x̂_c, n̂) = g_c Var n̂ and
Cov x̂_c = Σ_c - g_c g_c' (Var T_c - Var n̂). It is post-processing and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.noise import NoiseLaw
from mechanisms.summary.counts import CURVED, split_values
from mechanisms.summary.plan import LINE, MOMENTS, NUMBER, SummaryPlan, TablePlan


@dataclass(frozen=True)
class Cells:
    """Of one table: how its cells are estimated, in people, for one group. inverse: None where each is measured alone.

    covariance: (cells, cells) of y_c; of a table of categories only its diagonal's common value, a float.
    """

    table: TablePlan
    inverse: Floats | None
    covariance: Floats | float

    @property
    def gain(self) -> Floats:
        """g_c, (cells,)."""
        if isinstance(self.covariance, float):
            return np.full(self.table.sums, 1 / self.table.sums)
        sums = self.covariance.sum(axis=1)
        gain: Floats = sums / sums.sum()
        return gain

    @property
    def variance(self) -> float:
        """Var T_c."""
        if isinstance(self.covariance, float):
            return self.covariance * self.table.sums
        return float(self.covariance.sum())

    def estimates(self, values: Integers) -> Floats:
        """y_c, (groups, cells). values: (groups, sums)."""
        if self.inverse is None:
            alone: Floats = values / self.table.unit
            return alone
        least_squares: Floats = values @ self.inverse.T
        return least_squares


class Model:
    """What a plan's noise says of estimates of one group, without any measurement; of several groups it adds up."""

    def __init__(self, plan: SummaryPlan) -> None:
        self.plan = plan
        self.cells = {t.name: self._cells(t) for t in plan.tables if t.kind != MOMENTS}
        self.moments = {t.name: t for t in plan.tables if t.kind == MOMENTS}

    def _cells(self, table: TablePlan) -> Cells:
        if table.kind != LINE:
            return Cells(table, None, table.noise.variance / table.unit**2)
        own = self.plan.strategies[self.plan.lines[table.name].cells]
        covariance = table.noise.variance * own.covariance
        covariance[-1, -1] *= self.missing_weight(table)
        return Cells(table, own.inverse, covariance)

    def missing_weight(self, line: TablePlan) -> float:
        """Of those without a value, as the line tells them, beside what the moments tell: by their precisions."""
        own, other = (
            table.noise.variance / table.unit**2
            for table in (line, next(t for t in self.plan.tables if (t.name, t.kind) == (line.name, MOMENTS)))
        )
        return other / (own + other)

    @property
    def law(self) -> NoiseLaw:
        """A law of the kind that all tables have."""
        return self.plan.tables[0].noise

    @cached_property
    def number_variance(self) -> float:
        """Var n̂ of a group."""
        return 1 / sum(1 / own.variance for own in self.cells.values())

    def variances(self, name: str) -> Floats:
        """(cells,) of x̂_c, of one group."""
        own = self.cells[name]
        alone = own.covariance if isinstance(own.covariance, float) else np.diag(own.covariance)
        variances: Floats = alone - own.gain**2 * (own.variance - self.number_variance)
        return variances

    def covariance(self, name: str) -> Floats:
        """(cells, cells) of x̂_c, of one group, of a column of numbers."""
        own = self.cells[name]
        lost = np.outer(own.gain, own.gain) * (own.variance - self.number_variance)
        covariance: Floats = own.covariance - lost
        return covariance

    def moment_variances(self, name: str) -> tuple[float, float]:
        """Of Σu and Σ(1 - u²) of a group, u = (2v - W)/W, in people."""
        own = self.moments[name]
        alone = own.noise.variance / own.unit**2
        return alone, alone * (4 / CURVED[self.plan.loss.definition]) ** 2


@dataclass(frozen=True)
class Fused:
    """A measurement's best linear estimates. number: (groups,) n̂. cells: (groups, cells) x̂, by column.

    moments: (groups, 2) Σu and Σ(1 - u²), by column of numbers.
    """

    number: Floats
    cells: dict[str, Floats]
    moments: dict[str, Floats]

    @classmethod
    def of(cls, model: Model, values: Integers) -> Fused:
        """values: (plan.size,), measured."""
        plan = model.plan
        measured = list(zip(plan.tables, split_values(plan, values), strict=True))
        alone = {t.name: model.cells[t.name].estimates(own) for t, own in measured if t.kind != MOMENTS}
        for table, own in measured:
            if table.kind == MOMENTS:
                weight = model.missing_weight(model.cells[table.name].table)
                alone[table.name][:, -1] *= weight
                alone[table.name][:, -1] += (1 - weight) * own[:, -1] / table.unit
        weights = {name: model.number_variance / own.variance for name, own in model.cells.items()}
        number = sum(weights[name] * y.sum(axis=1) for name, y in alone.items())
        assert isinstance(number, np.ndarray)
        cells = {
            name: y + model.cells[name].gain * (number - y.sum(axis=1))[:, None]
            for name, y in alone.items()
            if model.cells[name].table.kind != NUMBER
        }
        curved = np.array([1.0, 4 / CURVED[plan.loss.definition]])
        moments = {t.name: own[:, :2] / t.unit * curved for t, own in measured if t.kind == MOMENTS}
        return cls(number, cells, moments)
