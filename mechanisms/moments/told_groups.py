"""Of which of many groups something is told, and how much wider that makes intervals.

A tiny group is told where its noise makes it large, and then less of it is true. So it counts how many are told: of m
groups R.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from mechanisms.arrays import Flags, Floats
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


def level_of_told(told: Flags) -> float:
    """Of the intervals of those that are told, so that 95 % of them hold. told: (groups,), as of `widening_of_told`."""
    return 1 - (1 - LEVEL) * max(int(told.sum()), 1) / len(told)


def are_declared(groups: Domain) -> Flags:
    """(groups.size,) those of which each value is declared, and not what other or missing values are counted in.

    The others hardly ever have somebody: it counts by itself how many of them are told.
    """
    declared: Flags = np.ones(1, dtype=bool)
    for attribute in groups.attributes:
        own = np.ones(attribute.size, dtype=bool)
        if isinstance(attribute, Categorical) and attribute.undeclared is not None:
            own[attribute.undeclared] = False
        if attribute.missing_cell:
            own[attribute.regular_size] = False
        declared = np.logical_and.outer(declared, own).ravel()
    return declared


def widening_of_told(told: Flags, law: NoiseLaw) -> float:
    """Times as wide are intervals so that 95 % hold of the groups that are told, though few are. told: (groups,).

    They are of the level 1 - 0.05·R/m (Benjamini, Yekutieli 2005, theorem 1: whether one is told depends on its own
    noise, and on how many others are).
    """
    return widening(len(told) / max(int(told.sum()), 1), law)
