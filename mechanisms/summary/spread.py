"""Means and deviations from the sums of u and of 1 - u², u from -1 at the lower bound to 1 at the upper one.

The number of people, from all columns, is much better known than one column alone could tell it. Given the number, a
mean needs Σu alone, and none of a row's budget has to be spent on counting it once more: Bernstein's three sums, whose
noise for a mean is √½ of a count's at best if the number is known, cost as much as these two, whose noise is half
a count's: the least that any sum over the range can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.estimates import MEAN_LEVEL, OTHER_LEVEL, TRIED, Interval, cut_to
from mechanisms.moments.ratios import Moment, ratio
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import reach as reach_of


@dataclass(frozen=True)
class SpreadSums:
    """Of rows of the table: people with a value, Σu and Σ(1 - u²), (rows,) each, and the variances of their noise."""

    number: Floats
    first: Floats
    curved: Floats
    variances: tuple[Floats, Floats, Floats]

    def mean(self, reach: Floats | float) -> Interval:
        """Of u, be it beyond ±1."""
        number, first, _ = self.variances
        return ratio(Moment(self.first, first, 0.0), self.number, number, reach)

    def deviation(self, law: NoiseLaw | None, reach: Floats | float) -> Interval:
        """Of u, within 1. law: of the noise; None if there is none. reach: of the noise in each row, as of `mean`.

        For the true mean m, Σ(u - m)² - s²n = n(1 + m²) - Σ(1 - u²) - 2mΣu - s²n is 0 for the variance s². So s² lies
        among those for which it is no farther from 0 than its noise reaches, for some m of the mean's interval; the
        levels of both make 95 % together.
        """
        number, first, curved = self.variances
        levels = (MEAN_LEVEL, OTHER_LEVEL)
        reaches = [reach * (reach_of(law, level) / reach_of(law) if law else 1.0) for level in levels]
        means = cut_to(self.mean(reaches[0]), -1, 1)
        known = ~np.isnan(means.lower)
        tried = np.linspace(means.lower, means.upper, TRIED)
        deviations = [
            ratio(
                Moment(
                    self.number * (1 + m * m) - self.curved - 2 * m * self.first,
                    (1 + m * m) ** 2 * number + curved + 4 * m * m * first,
                    (1 + m * m) * number,
                ),
                self.number,
                number,
                reaches[1],
            )
            for m in (*tried, means.estimate)
        ]
        low = np.min([own.lower for own in deviations], axis=0)
        high = np.max([own.upper for own in deviations], axis=0)
        middle = np.clip(deviations[-1].estimate, 0, 1 - means.estimate**2)
        # Where no s² is right for a mean, as above every value's distance, the nearest possible ones are.
        squares = cut_to(Interval(middle, low, high), 0, 1)
        parts = (squares.estimate, squares.lower, squares.upper)
        return Interval(*(np.where(known, np.sqrt(part), np.nan) for part in parts))
