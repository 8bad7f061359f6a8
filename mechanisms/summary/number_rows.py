"""What is told of a column of numbers or dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval, cut_to, with_estimate
from mechanisms.moments.ratios import Moment, linear, quotient, ratio
from mechanisms.summary.agreement import Values, agreed
from mechanisms.summary.column_estimates import NumberEstimates
from mechanisms.summary.line import LineColumn
from mechanisms.summary.possible import tilted
from mechanisms.summary.quantiles import cells_of, mean_between, points, quantiles, rising
from mechanisms.summary.rows import CellNoise, RowEstimates
from mechanisms.summary.spread import SpreadSums
from mechanisms.summary.steps import reported_steps
from mechanisms.summary.two_moments import with_variance


def number_rows(rows: RowEstimates, line: LineColumn) -> NumberEstimates:
    """Number, total, mean, deviation, quantiles, and shares of those missing and at a bound."""
    own = _Column(rows, line)
    cells, low, high = own.possible, 0, line.cells - 1
    interval = linear(own.sums.number, own.sums.variances[0], rows.reaches)
    return NumberEstimates(
        with_estimate(own.people, cut_to(interval, 0, rows.most), 0, rows.most),
        own.missing,
        None if line.measured.is_date else own.total,
        own.mean,
        own.measured_mean,
        own.deviation,
        own.reported_quantiles,
        None if line.measured.is_date else own.share_in(low),
        None if line.measured.is_date else own.share_in(high),
        np.where(np.isnan(own.mean.lower)[:, None], np.nan, quotient(cells[:, :-1], own.people[:, None])),
        reported_steps(line, own.raw[:, :-1], own.noise, cells[:, :-1], own.reaches),
    )


@dataclass(frozen=True)
class _Column:
    """One column's estimates; the last cell is that of missing values."""

    rows: RowEstimates
    line: LineColumn

    @property
    def name(self) -> str:
        return self.line.attribute.name

    @cached_property
    def raw(self) -> Floats:
        """(rows, cells + 1), unbiased."""
        return self.rows.with_all(self.rows.fused.cells[self.name])

    @cached_property
    def noise(self) -> CellNoise:
        """Of all cells, (cells + 1)."""
        return self.rows.noise(self.name)

    def _places(self, cell: int | slice) -> Floats:
        """(cells + 1,) 1 of some cells, 0 of the others."""
        places = np.zeros(self.line.cells + 1)
        places[cell] = 1
        return places

    @property
    def _with_value(self) -> Floats:
        return self._places(slice(self.line.cells))

    @cached_property
    def sums(self) -> SpreadSums:
        """Of each row."""
        first, curved = self.rows.with_all(self.rows.fused.moments[self.name]).T
        number = self.noise.between(self._with_value, self._with_value)
        of_first, of_curved = (
            self.rows.times * variance for variance in self.rows.model.moment_variances(self.name)
        )
        return SpreadSums(self.raw[:, :-1].sum(axis=1), first, curved, (number, of_first, of_curved))

    @cached_property
    def reaches(self) -> Floats:
        """(rows,) of what is told of people with a value."""
        return self.rows.reaches_of(self.sums.number, self.sums.variances[0])

    @property
    def missing(self) -> Interval:
        rows, last = self.rows, self._places(self.line.cells)
        everybody = np.ones(self.line.cells + 1)
        part = Moment(self.raw[:, -1], self.noise.between(last, last), self.noise.between(last, everybody))
        share = ratio(part, rows.number, self.noise.between(everybody, everybody), rows.reaches_of_people)
        return with_estimate(quotient(self.possible[:, -1], rows.people), cut_to(share, 0, 1), 0, 1)

    def share_in(self, cell: int) -> Interval:
        """Of values in one cell."""
        own = self._places(cell)
        variance, covariance = self.noise.between(own, own), self.noise.between(own, self._with_value)
        part = Moment(self.raw[:, cell], variance, covariance)
        share = ratio(part, self.sums.number, self.sums.variances[0], self.reaches)
        return with_estimate(quotient(self.possible[:, cell], self.people), cut_to(share, 0, 1), 0, 1)

    @cached_property
    def _informed(self) -> tuple[Floats, Floats]:
        """(groups, cells + 1) and the sums of each group's moments, (groups, 2), of which estimates are made.

        Where each cell is one value the sums are linear in the cells, Mx, and tell more of these: with the covariances
        C of the cells, given the people of a group, and S of the sums z, the best linear estimates of the cells are
        x + CM'(MCM' + S)⁻¹(z - Mx) (Gauss, Markov), and those of the sums are theirs.
        """
        cells, sums = self.rows.fused.cells[self.name], self.rows.fused.moments[self.name]
        if not self.line.is_single_valued:
            return cells, sums
        u = self._place(self.line.edges[0])
        of_cells = np.column_stack([np.stack([u, 1 - u**2]), np.zeros(2)])
        given = self.noise.given @ of_cells.T
        spread = of_cells @ given + np.diag(self.rows.model.moment_variances(self.name))
        cells = cells + (sums - cells @ of_cells.T) @ np.linalg.solve(spread, given.T)
        return cells, cells @ of_cells.T

    @cached_property
    def _group_moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of u in each group, possible ones; of a group that seems empty the middle."""
        cells, sums = self._informed
        number, (first, curved) = cells[:, :-1].sum(axis=1), sums.T
        mean = np.clip(quotient(first, number, 0.0), -1, 1)
        return mean, np.clip(1 - quotient(curved, number, 1.0) - mean**2, 0, 1 - mean**2)

    @cached_property
    def _agreed_groups(self) -> tuple[Floats, Floats, Floats]:
        """(groups, cells + 1) of a possible table, and (groups,) means and variances of u that its values could have.

        A mean moves only where the intervals of quantiles do not allow it, or no cell that seems to hold anybody could
        give it, as in groups of next to nobody; and a variance where those cells could not.
        """
        cells = self.rows.possible_line(self._informed[0])
        groups, edges = len(cells), self.line.edges
        low, high = (self._place(ends) for ends in edges)
        band = mean_between(self.quantiles.lower[:groups], self.quantiles.upper[:groups], edges)
        mean = self._clipped(self._group_moments[0], band)
        inner = cells[:, :-1] = tilted(cells[:, :-1], (low, high), mean)
        number = inner.sum(axis=1)
        mean = np.clip(mean, quotient(inner @ low, number, -1.0), quotient(inner @ high, number, 1.0))
        variance = 1 - mean**2 if self.line.measured.is_two_valued else self._group_moments[1]
        cells[:, :-1], variance = with_variance(inner, (low, high), mean, variance)
        # Where in its cell a quantile lies is not known: it moves to where the mean is (`agreed`), and not the mean.
        ends = cells_of(points(cells[:, :-1], edges), edges)
        return cells, self._clipped(mean, mean_between(*ends, edges)), variance

    def _clipped(self, means: Floats, between: tuple[Floats, Floats]) -> Floats:
        """Means of u cut to ends in the column's unit; as they are where these are NaN."""
        low, high = (self._place(ends) for ends in between)
        cut: Floats = np.where(np.isnan(low), means, np.clip(means, low, high))
        return cut

    @cached_property
    def quantiles(self) -> Interval:
        """(rows, 5) as the running totals tell them."""
        return quantiles(self.raw[:, :-1], self.noise, self.line.edges, self.reaches)

    @property
    def reported_quantiles(self) -> Interval:
        """(rows, 5), of the possible table.

        Ends are values of whole cells, which are in the interval: where a cell is one value, that may be the estimate.
        """
        point, edges, ends = self.agreed[0], self.line.edges, self.quantiles
        reaching = with_estimate(point, ends, float(edges[0][0]), float(edges[1][-1]))
        first, last = cells_of(point, edges)
        low, high = np.minimum(ends.lower, point), np.maximum(ends.upper, point)
        low = np.where(first == last, low, reaching.lower)
        high = np.where(first == last, high, reaching.upper)
        if self.line.has_integer_values:
            low, high = np.floor(low), np.ceil(high)
        return Interval(reaching.estimate, *rising(low, high))

    @cached_property
    def possible(self) -> Floats:
        """(rows, cells + 1) of that table."""
        return self.rows.with_all(self._agreed_groups[0])

    @cached_property
    def people(self) -> Floats:
        """(rows,) with a value, of the possible table."""
        people: Floats = self.rows.people - self.possible[:, -1]
        return people

    @property
    def _span(self) -> float:
        return float(self.line.measured.top - self.line.measured.lower)

    def _value(self, u: Floats) -> Floats:
        """In the column's unit: values are spread evenly over their step."""
        return float(self.line.measured.lower) + (1 + u) / 2 * self._span + self.line.floor_error / 2

    def _place(self, value: Floats) -> Floats:
        """In terms of u."""
        return 2 * (value - self._value(-np.ones(1))) / self._span - 1

    @property
    def _moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of u in each row; everybody's are those of the groups put together."""
        _, mean, variance = self._agreed_groups
        groups = len(mean)
        weights = quotient(self.people[:groups], self.people[:groups].sum(), 0.0)
        all_mean = weights @ mean
        all_variance = weights @ (variance + mean**2) - all_mean**2
        rows = self.rows.plan.rows
        means, variances = np.array([*mean, all_mean]), np.array([*variance, max(all_variance, 0.0)])
        return means[:rows], variances[:rows]

    @property
    def total(self) -> Interval:
        """Linear in the noise of the number and of Σu, cut to what is possible; each value may be above its step by
        `floor_error`.
        """
        (number, first), half = self.sums.variances[:2], self._span / 2
        ends = []
        for above, side in ((0.0, -1), (self.line.floor_error, 1)):
            middle = float(self.line.measured.lower) + above + half
            value = middle * self.sums.number + half * self.sums.first
            ends.append(value + side * self.reaches * np.sqrt(middle**2 * number + half**2 * first))
        estimate = self.people * self.mean.estimate
        interval = Interval(estimate, *(np.where(np.isnan(estimate), np.nan, end) for end in ends))
        possible = self.line.measured.possible_totals
        return with_estimate(estimate, cut_to(interval, *possible), *possible)

    @cached_property
    def mean(self) -> Interval:
        """A value may be above its step by `floor_error`, and so may the mean."""
        ends = self._in_unit(cut_to(self.sums.mean(self.reaches), -1, 1))
        ends = Interval(ends.estimate, ends.lower, np.minimum(ends.upper, self._most))
        return with_estimate(
            self._of_somebody(self._middle), ends, float(self.line.measured.lower), self._most
        )

    @property
    def measured_mean(self) -> Interval:
        """(rows,) not moved to where it is possible."""
        return self._in_unit(self.sums.mean(self.reaches))

    def _in_unit(self, u: Interval) -> Interval:
        half = self.line.floor_error / 2
        ends = self._value(u.lower) - half, self._value(u.upper) + half
        return Interval(self._value(u.estimate), *ends)

    @property
    def _most(self) -> float:
        """Of values cut to the bounds the mean is none beyond them."""
        return float(self.line.measured.lower + self.line.measured.range)

    def _of_somebody(self, estimates: Floats) -> Floats:
        """(rows,) NaN where the possible table has nobody with a value."""
        reported: Floats = np.where(self.people > 0, estimates, np.nan)
        return reported

    @property
    def _middle(self) -> Floats:
        """(rows,) means, whether they are told or not."""
        middle: Floats = np.minimum(self._value(self._moments[0]), self._most)
        return middle

    @cached_property
    def deviation(self) -> Interval:
        """By at most the deviation of what is left of each value's step it is off, half of `floor_error`."""
        held, half = self.sums.deviation(self.rows.law, self.reaches), self.line.floor_error / 2
        scale, most = self._span / 2, float(self.line.measured.range) / 2
        low, high = np.maximum(scale * held.lower - half, 0), np.minimum(scale * held.upper + half, most)
        return with_estimate(self._of_somebody(self.agreed[1]), Interval(held.estimate, low, high), 0, most)

    @cached_property
    def agreed(self) -> tuple[Floats, Floats]:
        """(rows, 5) quantiles of the possible table, and (rows,) deviations, both with the mean that is told."""
        edges = self.line.edges
        quantiles = points(self.possible[:, :-1], edges)
        deviation = self._span / 2 * np.sqrt(self._moments[1])
        values = Values((float(edges[0][0]), float(edges[1][-1])), self.line.has_integer_values)
        return agreed(quantiles, cells_of(quantiles, edges), values, self._middle, deviation)
