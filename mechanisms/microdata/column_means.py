"""Means of single columns: in the rows, by what was measured, and how far noise moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Date, Integer, Real
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.moments.estimates import Interval
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import FARTHEST, STEP, reach
from mechanisms.summary.ratios import Moment, ratio, within
from mechanisms.synthesis.bin_error import most_mean_error
from mechanisms.synthesis.density import BinDensity, cell_line
from mechanisms.synthesis.table import people_in_rows

Ordered = Integer | Real | Date


@dataclass(frozen=True)
class ColumnMean:
    """A mean in the column's unit, of dates in days since 1 January of the year 1 (which is day 1).

    rows: of the synthetic rows. measured: by the noisy counts of the column alone, unbiased but for where in its cell
    a value lies; NaN where nothing is told. bins: by how much that can be off at most.
    """

    attribute: Ordered
    rows: float
    measured: Interval
    bins: float


def column_means(plan: MicrodataPlan, result: MicrodataResult) -> list[ColumnMean]:
    """Of every column of numbers or dates that the rows have; of none in which nobody has a value."""
    laws, released = margin_laws(plan), plan.of_columns(result.columns).domain
    columns = zip(result.columns, released.attributes, people_in_rows(released, result.rows), strict=True)
    means = []
    for place, attribute, counts in columns:
        if isinstance(attribute, Ordered) and counts[: attribute.regular_size].any():
            people = counts[: attribute.regular_size]
            values = BinDensity(attribute, people).means()
            noisy = result.margins[place][: attribute.regular_size]
            measured = _measured(attribute, values, noisy, laws[place])
            mean = float(people @ values / people.sum())
            means.append(ColumnMean(attribute, mean, measured, most_mean_error(attribute, people)))
    return means


def _measured(attribute: Ordered, values: Floats, noisy: Integers, law: NoiseLaw) -> Interval:
    """Σ v y / Σ y, with each p for which Σ (v - p) y is no farther from 0 than noise reaches (Fieller 1954)."""
    # From the middle, since squares of large numbers would leave nothing of the differences.
    middle = (values[0] + values[-1]) / 2
    v, y = values - middle, noisy.astype(float)
    above = Moment(np.array([v @ y]), law.variance * float(v @ v), law.variance * float(v.sum()))
    found = ratio(above, np.array([y.sum()]), law.variance * y.size, _reach(law))
    line = cell_line(attribute)
    return within(
        Interval(*(middle + part for part in (found.estimate, found.lower, found.upper))), line[0], line[-1]
    )


def _reach(law: NoiseLaw) -> float:
    """In standard errors of any weighted sum; see `noise.sum_quantiles.half_widths`."""
    if law.standard_error == 0:
        return 0.0
    return min(reach(law) + STEP / law.standard_error, FARTHEST)


def most_noise_error(attribute: Ordered, law: NoiseLaw, people: int) -> float:
    """How far noise moves the mean of a column's counts at most, with 95 %: if everybody had a value at one bound.

    Rows are made of smoothed counts, so their means usually are closer. No more than from bound to bound.
    """
    line = cell_line(attribute).astype(float)
    middles = (line[:-1] + line[1:]) / 2
    off = max(math.sqrt(np.sum((middles - end) ** 2)) for end in (line[0], line[-1]))
    return min(float(line[-1] - line[0]), _reach(law) * law.standard_error * off / people)
