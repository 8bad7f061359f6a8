"""Of which of many groups something is told, and how much wider that makes intervals.

A tiny group is told where its noise makes it large, and then less of it is true. So it counts how many are told: of m
groups R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.domain import Categorical, Domain
from mechanisms.noise import DiscreteGaussian, NoiseLaw
from mechanisms.noise.sum_quantiles import LEVEL, reach as reach_of, widening

# A number that is nearer to 0 than to 1 is nobody.
HALF_A_PERSON = 0.5


def have_somebody(numbers: Floats, reach: Floats | float, law: NoiseLaw) -> Flags:
    """(groups,) so that of the groups that are told at most 2.5 % have nobody, on average.

    numbers: measured, (groups,). reach: of their noise at 95 %, (groups,) or of all. law: of the noise. Of a group of
    nobody noise alone is measured, which is above c times its reach with 0.05^c/2 at most, less where it is Gaussian
    (`sum_quantiles.widening`). Told are the R groups with the largest numbers for which that is at most 0.025·R/m
    (Benjamini, Hochberg 1995): a single one beyond its reach.
    """
    beyond = np.maximum(numbers / np.maximum(reach, HALF_A_PERSON), 0)
    is_gaussian = isinstance(law, DiscreteGaussian)
    chances = ndtr(-reach_of(law) * beyond) if is_gaussian else (1 - LEVEL) ** beyond / 2
    ranked = np.sort(chances)
    allowed = (1 - LEVEL) / 2 * np.arange(1, len(ranked) + 1) / len(ranked)
    most = ranked[ranked <= allowed].max(initial=0.0)
    somebody: Flags = (chances <= most) & (numbers > HALF_A_PERSON)
    return somebody


def widening_of_reported(reported: Flags, law: NoiseLaw) -> float:
    """Times as wide are intervals so that 95 % hold of the groups that are told, though few are. reported: (groups,).

    They are of the level 1 - 0.05·R/m (Benjamini, Yekutieli 2005, theorem 1: whether one is told depends on its own
    noise, and on how many others are).
    """
    return widening(_statements(reported), law)


def _statements(reported: Flags) -> float:
    """Groups for each that is told."""
    return len(reported) / max(int(reported.sum()), 1)


@dataclass(frozen=True)
class Families:
    """Groups with declared values, and those for other and missing ones: of each it is counted how many are told.

    The latter hardly ever have somebody, and are not to make the intervals of the others wider. places: of each family.
    """

    places: tuple[Integers, ...]

    @classmethod
    def of(cls, groups: Domain) -> Families:
        """Of the cells of a domain."""
        declared: Flags = np.ones(1, dtype=bool)
        for attribute in groups.attributes:
            own = np.ones(attribute.size, dtype=bool)
            if isinstance(attribute, Categorical) and attribute.undeclared is not None:
                own[attribute.undeclared] = False
            if attribute.missing_cell:
                own[attribute.regular_size] = False
            declared = np.logical_and.outer(declared, own).ravel()
        return cls(tuple(places for places in map(np.flatnonzero, (declared, ~declared)) if len(places)))

    @classmethod
    def alone(cls, groups: int) -> Families:
        """One of so many groups."""
        return cls((np.arange(groups),))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return sum(map(len, self.places))

    def have_somebody(self, numbers: Floats, reach: Floats, law: NoiseLaw) -> Flags:
        """As `have_somebody`, (groups,) each."""
        reported = np.zeros(self.size, dtype=bool)
        for places in self.places:
            reported[places] = have_somebody(numbers[places], reach[places], law)
        return reported

    def widened(self, reported: Flags, law: NoiseLaw) -> Floats:
        """(groups,) as `widening_of_reported`."""
        widened = np.ones(self.size)
        for places in self.places:
            widened[places] = widening_of_reported(reported[places], law)
        return widened

    def levels(self, reported: Flags) -> Floats:
        """(groups,) of the intervals that are so much wider."""
        levels = np.ones(self.size)
        for places in self.places:
            levels[places] -= (1 - LEVEL) / _statements(reported[places])
        return levels
