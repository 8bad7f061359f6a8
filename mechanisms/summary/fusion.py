"""Best linear estimates from all tables together: each tells how many people a group has, and all tell it better.

Let table c have unbiased estimates y_c of its cells with covariance Σ_c, and T_c = 1'y_c, which estimates the number n
of the group's people. Tables have independent noise. By least squares over all of them (Gauss, Markov) the number is
n̂ = Σ T_c/Var T_c over Σ 1/Var T_c, and the cells are x̂_c = y_c + g_c (n̂ - T_c) with g_c = Cov(y_c, T_c)/Var T_c, whose
sum is n̂: given n̂, y_c - g_c T_c, which is uncorrelated with T_c, is all there is. Hence Cov(x̂_c, n̂) = g_c Var n̂ and
Cov x̂_c = Σ_c - g_c g_c' (Var T_c - Var n̂). It is post-processing and costs nothing.

A centred table tells how far its cells depart from an even spread, and nothing of n: T_c = 0 = Var T_c, it has no part
in n̂, and with g_c the even spread, each cell's 1/m, the same formulas hold.

Where the number N of rows is public and there are G groups, theirs add up to it: as they have the same variance, each n̂
becomes n̂ + (N - Σ n̂)/G, and the cells move with it by g_c. Added up over k groups, n̂ then has the variance
k (1 - k/G) Var n̂ in place of k Var n̂: none for all of them. No linear function has a larger variance than before.

Those without a value of a column of numbers are measured once more beside its moments, z with variance s. Given n that
is one more measurement of the line's last cell, e: with k = Σe/(e'Σe + s) the cells are y + k(z - e'x̂), which moves
y to (I - ke')y + kz, its covariance to (I - ke')Σ(I - ke')' + s kk', and an even spread to g = (I - ke')1/m. Without
centring Σe has no other entry than the last, and g stays what it is.
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
class Corrected:
    """The covariance of a line's cells, once those without a value are told by its moments, too.

    own: (cells, cells), Σ. weight: k, (cells,). moment_variance: s.
    """

    own: Floats
    weight: Floats
    moment_variance: float

    @cached_property
    def matrix(self) -> Floats:
        """(I - ke')Σ(I - ke')' + s kk'."""
        last, k = self.own[:, -1], self.weight
        moved = np.outer(k, last)
        matrix: Floats = self.own - moved - moved.T + (last[-1] + self.moment_variance) * np.outer(k, k)
        return matrix

    @cached_property
    def sums(self) -> Floats:
        """(cells,) of each row."""
        k, together = self.weight, self.weight.sum()
        rows = self.own.sum(axis=1) - together * self.own[:, -1]
        sums: Floats = rows - (rows[-1] - self.moment_variance * together) * k
        return sums


@dataclass(frozen=True)
class Cells:
    """Of one table: how its cells are estimated, in people, for one group.

    spread: of y_c; of a table of categories only the common value of its covariance's diagonal. gain: g_c, (cells,).
    """

    table: TablePlan
    spread: Corrected | float
    gain: Floats

    @property
    def covariance(self) -> Floats | float:
        """(cells, cells) of y_c; of a table of categories only its diagonal's common value."""
        return self.spread if isinstance(self.spread, float) else self.spread.matrix

    @property
    def variance(self) -> float:
        """Var T_c."""
        if self.table.centred:
            return 0.0
        if isinstance(self.spread, float):
            return self.spread * self.table.sums
        return float(self.spread.sums.sum())

    def sum_variance(self, places: Integers, number_variance: float) -> float:
        """Of some cells of x̂_c added up, of one group. number_variance: Var n̂."""
        lost = self.gain[places].sum() ** 2 * (self.variance - number_variance)
        if not isinstance(self.covariance, float):
            return float(self.covariance[np.ix_(places, places)].sum() - lost)
        many, cells = len(places), self.table.sums
        # Centred cells have the correlation -1/(cells - 1).
        together = many * (cells - many) / (cells - 1) if self.table.centred else many
        return float(self.covariance * together - lost)


class Model:
    """What a plan's noise says of estimates of one group, without any measurement; of several groups it adds up."""

    def __init__(self, plan: SummaryPlan) -> None:
        self.plan = plan
        self.moments = {t.name: t for t in plan.tables if t.kind == MOMENTS}
        self.cells = {t.name: self._cells(t) for t in plan.tables if t.kind != MOMENTS}

    def _cells(self, table: TablePlan) -> Cells:
        evenly = np.full(table.sums, 1 / table.sums)
        if table.kind != LINE:
            alone = table.noise.variance / table.unit**2
            return Cells(table, alone * (1 - 1 / table.sums) if table.centred else alone, evenly)
        own = self.plan.strategies[self.plan.lines[table.name].cells]
        moment_variance, weight = self.moment_variances(table.name)[0], self._missing_weight(table)
        spread = Corrected(table.noise.variance * own.covariance, weight, moment_variance)
        if own.is_centred:
            return Cells(table, spread, (1 - weight) / (own.cells + 1))
        return Cells(table, spread, spread.sums / spread.sums.sum())

    def _missing_weight(self, line: TablePlan) -> Floats:
        """k, (cells + 1,): how those without a value, as the moments tell them, move the cells of a line."""
        column = (
            line.noise.variance * self.plan.strategies[self.plan.lines[line.name].cells].covariance[:, -1]
        )
        weight: Floats = column / (column[-1] + self.moment_variances(line.name)[0])
        return weight

    def alone(self, table: TablePlan, values: Integers, moments: Integers | None) -> Floats:
        """y_c, (groups, cells), from one table alone. values: (groups, sums); moments: those of the same column."""
        if moments is None:
            cells: Floats = values / table.unit
            return cells - cells.mean(axis=1, keepdims=True) if table.centred else cells
        own = self.plan.strategies[self.plan.lines[table.name].cells]
        line: Floats = values @ own.inverse.T
        number = moments[:, -1] / self.moments[table.name].unit
        moved: Floats = line + np.outer(number - line[:, -1], self._missing_weight(table))
        return moved

    def number_variances(self, times: Floats) -> Floats:
        """Of n̂ of so many groups added up, over how many they are: none of all groups, where N is public."""
        groups = self.plan.groups.size
        left = np.ones_like(times) if self.plan.total is None else (groups - times) / groups
        variances: Floats = self.number_variance * left
        return variances

    @property
    def number_error(self) -> float:
        """The standard error of the number that is told of a group."""
        return float(self.number_variances(np.ones(1))[0] ** 0.5)

    def added(self, number: Floats) -> Floats:
        """n̂ of all groups, (groups,), so that it adds up to the number of rows where that is public."""
        return number if self.plan.total is None else number + (self.plan.total - number.sum()) / len(number)

    @property
    def law(self) -> NoiseLaw:
        """A law of the kind that all tables have."""
        return self.plan.tables[0].noise

    @cached_property
    def number_variance(self) -> float:
        """Var n̂ of a group."""
        return 1 / sum(1 / own.variance for own in self.cells.values() if not own.table.centred)

    def variances(self, name: str, number_variance: float | None = None) -> Floats:
        """(cells,) of x̂_c, of one group. number_variance: of n̂, of each group by itself if it is not given."""
        own, number = self.cells[name], self.number_variance if number_variance is None else number_variance
        alone = own.covariance if isinstance(own.covariance, float) else np.diag(own.covariance)
        variances: Floats = alone - own.gain**2 * (own.variance - number)
        return variances

    def covariance(self, name: str, number_variance: float | None = None) -> Floats:
        """(cells, cells) of x̂_c, of one group, of a column of numbers. number_variance: as of `variances`."""
        own, number = self.cells[name], self.number_variance if number_variance is None else number_variance
        lost = np.outer(own.gain, own.gain) * (own.variance - number)
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
        moments = {t.name: own for t, own in measured if t.kind == MOMENTS}
        alone = {t.name: model.alone(t, own, moments.get(t.name)) for t, own in measured if t.kind != MOMENTS}
        counting = {name: own for name, own in model.cells.items() if not own.table.centred}
        number = sum(
            model.number_variance / own.variance * alone[name].sum(axis=1) for name, own in counting.items()
        )
        assert isinstance(number, np.ndarray)
        number = model.added(number)
        cells = {
            name: y + model.cells[name].gain * (number - y.sum(axis=1))[:, None]
            for name, y in alone.items()
            if model.cells[name].table.kind != NUMBER
        }
        curved = np.array([1.0, 4 / CURVED[plan.loss.definition]])
        sums = {name: own[:, :2] / model.moments[name].unit * curved for name, own in moments.items()}
        return cls(number, cells, sums)

    def of_groups(self, groups: Integers) -> Fused:
        """Of some groups alone."""
        cells, moments = (
            {name: own[groups] for name, own in each.items()} for each in (self.cells, self.moments)
        )
        return Fused(self.number[groups], cells, moments)
