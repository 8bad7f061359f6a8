"""Number, total, mean, deviation and shares at the bounds made into those of one group that there could be.

Each sum has noise of its own, so in groups hardly larger than the noise estimates contradict each other. They are
settled one after the other, the best known first, each as near to what was measured as those before it allow:

- the number n is whole, not below 0, and at most that of all rows where that is public: then groups, with those
  without a value, add up to it;
- the mean lies between the bounds, at t of the range, and the total is n times the mean: whole steps, 0 of nobody;
- of n values with mean t the squares add up most where all but one lie at the bounds (they are convex): with k whole
  and r the rest of nt, to k + r². So the variance is at most t(1 - t) - r(1 - r)/n: 0 of a single one;
- the shares at both bounds are those of whole steps with this mean and deviation (`bound_shares`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.moments.spread_bounds import most_deviation

_ONE = np.ones(1)


def people(measured: Floats, most: Floats | float = np.inf) -> Floats:
    """The nearest whole numbers from 0 to `most`, which is whole."""
    return np.rint(np.clip(measured, 0, most))


@dataclass(frozen=True)
class PossibleGroup:
    """number: whole, >= 0. place: of the mean in the range, in 0..1; 0 of nobody. (groups,) each."""

    number: Floats
    place: Floats

    @classmethod
    def near(cls, people: Floats, number: Floats, first: Floats, steps: int) -> PossibleGroup:
        """people: people that are told, (groups,). number, first: measured n and Σt. steps: W."""
        there = (people > 0) & (number > 0)
        place = np.clip(np.where(there, first / np.where(there, number, 1), 0), 0, 1)
        together = np.maximum(people, 1) * steps
        return cls(people, np.rint(place * together) / together)

    def variance(self, measured: Floats) -> Floats:
        """In squares of the range, (groups,)."""
        ends = np.zeros((len(self.place), 1)), np.ones((len(self.place), 1))
        rest = self.number * self.place % 1
        most = most_deviation(*ends, _ONE, self.place) ** 2 - rest * (1 - rest) / np.maximum(self.number, 1)
        possible: Floats = np.clip(measured, 0, np.maximum(most, 0))
        return possible
