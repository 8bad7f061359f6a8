"""Means of single columns: in the rows, by what was measured, and how far noise moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.domain import Ordered
from mechanisms.microdata.column_sums import means_of, sums_plan
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.moments.estimates import Interval, cut_to
from mechanisms.moments.plan import ColumnPlan
from mechanisms.moments.ratios import Moment, ratio
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import half_widths
from mechanisms.synthesis.bin_error import most_mean_error
from mechanisms.synthesis.density import MOST_LEANING, BinDensity, cell_line
from mechanisms.synthesis.table import people_in_rows

# No mean is moved nearer to the ends of its bins than by this share of them.
NARROW = 0.01


@dataclass(frozen=True)
class ColumnMean:
    """A mean in the column's unit, of dates in days since 1 January of the year 1 (which is day 1).

    people: synthetic rows in each cell. counted: the mean by the noisy counts of
    the column alone, unbiased but for where in its cell a value lies; NaN where nothing is told. bins: by how much that
    can be off at most. summed: by the column's exact sum; None where the plan has none.
    """

    attribute: Ordered
    people: Integers
    counted: Interval
    bins: float
    summed: Interval | None

    @cached_property
    def unmoved(self) -> float:
        """Of the rows, by their counts alone."""
        return float(self.people @ BinDensity(self.attribute, self.people).means() / self.people.sum())

    @property
    def rows(self) -> float:
        """Of the synthetic rows."""
        return self.unmoved if self.target is None else self.target

    @cached_property
    def target(self) -> float | None:
        """The mean that values are moved to inside their cells; None where nothing says that they should be.

        The sum differs from the counts by the noise of both and by where in its bin a value lies. Values are moved by
        as much of the difference as noise does not explain (James and Stein).
        """
        if self.summed is None or not self.bins or self.people.size > MOST_LEANING:
            return None
        noise = sum(((own.upper[0] - own.lower[0]) / 4) ** 2 for own in (self.summed, self.counted))
        if math.isnan(noise):
            return None
        apart = float(self.summed.estimate[0]) - self.unmoved
        moved = self.unmoved + apart * max(0.0, 1 - noise / apart**2 if apart else 0.0)
        least = float(self.people @ cell_line(self.attribute)[:-1]) / float(self.people.sum())
        return float(np.clip(moved, least + NARROW * self.bins, least + (1 - NARROW) * self.bins))


def column_means(plan: MicrodataPlan, result: MicrodataResult) -> list[ColumnMean]:
    """Of every column of numbers or dates that the rows have; of none in which nobody has a value."""
    laws, released = margin_laws(plan), plan.of_columns(result.columns).domain
    columns = zip(result.columns, released.attributes, people_in_rows(released, result.rows), strict=True)
    summed, means = means_of(plan, result.sums), []
    for place, attribute, counts in columns:
        if isinstance(attribute, Ordered) and counts[: attribute.regular_size].any():
            people = counts[: attribute.regular_size]
            noisy = result.margins[place][: attribute.regular_size]
            counted = _counted(attribute, people, noisy, laws[place])
            bins = most_mean_error(attribute, people)
            means.append(ColumnMean(attribute, people, counted, bins, summed.get(attribute.name)))
    return means


def target_means(plan: MicrodataPlan, result: MicrodataResult) -> dict[str, float]:
    """The means to which values of columns are moved, by name, as `synthesis.table.rows_of_cells` takes them."""
    means = column_means(plan, result) if plan.sums else []
    return {own.attribute.name: own.target for own in means if own.target is not None}


def _counted(attribute: Ordered, people: Integers, noisy: Integers, law: NoiseLaw) -> Interval:
    """Σ v y / Σ y, with each p for which Σ (v - p) y is no farther from 0 than noise reaches (Fieller 1954)."""
    values = BinDensity(attribute, people).means()
    # From the middle, since squares of large numbers would leave nothing of the differences.
    middle = (values[0] + values[-1]) / 2
    v, y = values - middle, noisy.astype(float)
    above = Moment(np.array([v @ y]), law.variance * float(v @ v), law.variance * float(v.sum()))
    mean = ratio(above, np.array([y.sum()]), law.variance * y.size, _reach(law))
    line = cell_line(attribute)
    return cut_to(
        Interval(*(middle + part for part in (mean.estimate, mean.lower, mean.upper))), line[0], line[-1]
    )


def _reach(law: NoiseLaw) -> float:
    """In standard errors of any weighted sum."""
    return float(half_widths(law, np.array(1.0)))


def most_noise_errors(plan: MicrodataPlan, people: int) -> list[tuple[float, Ordered]]:
    """How far noise moves the mean of each column of numbers or dates at most, with 95 %.

    That of its counts and, where the plan adds the column up, what its sum leaves open of where in bins values lie.
    """
    summed = {own.column.attribute.name: own for own in sums_plan(plan).columns} if plan.sums else {}
    errors = []
    for attribute, law in zip(plan.domain.attributes, margin_laws(plan), strict=True):
        if isinstance(attribute, Ordered):
            error = _most_of_counts(attribute, law, people)
            if own := summed.get(attribute.name):
                error += min(most_mean_error(attribute), most_sum_error(own, people))
            errors.append((error, attribute))
    return errors


def most_sum_error(own: ColumnPlan, people: int) -> float:
    """With everybody at a bound the noise of one of the two sums moves the mean, and of the other nothing."""
    span = float(own.column.range)
    return min(span, span * _reach(own.noise) * own.noise.standard_error / own.unit / people)


def _most_of_counts(attribute: Ordered, law: NoiseLaw, people: int) -> float:
    """If everybody had a value at one bound; no more than from bound to bound.

    Rows are made of smoothed counts, so their means usually are closer.
    """
    line = cell_line(attribute).astype(float)
    middles = (line[:-1] + line[1:]) / 2
    off = max(math.sqrt(np.sum((middles - end) ** 2)) for end in (line[0], line[-1]))
    return min(float(line[-1] - line[0]), _reach(law) * law.standard_error * off / people)
