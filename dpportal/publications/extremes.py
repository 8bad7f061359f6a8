"""Which of several numbers is certainly the largest or the smallest: what a page's first sentence may say of groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import widening


@dataclass(frozen=True)
class Extremes:
    """Places of numbers whose intervals hold together with 95 %; None where nothing is certain.

    highest, lowest: of one whose interval lies apart from all others. pair: of two, of which the first is certainly
    larger, where neither is set. So all that is said of equal numbers is wrong in at most 5 % of releases.
    """

    highest: int | None = None
    lowest: int | None = None
    pair: tuple[int, int] | None = None


def extremes(lower: Floats, upper: Floats) -> Extremes:
    """lower, upper: (k,) ends of intervals that hold together; NaN of what is not determined, which is passed over."""
    known = np.flatnonzero(~np.isnan(lower + upper))
    if known.size < 2:
        return Extremes()
    by_lower, by_upper = known[np.argsort(lower[known])], known[np.argsort(upper[known])]
    highest = (
        int(by_lower[-1]) if lower[by_lower[-1]] > upper[_first_other(by_upper[::-1], by_lower[-1])] else None
    )
    lowest = int(by_upper[0]) if upper[by_upper[0]] < lower[_first_other(by_lower, by_upper[0])] else None
    above, below = int(by_lower[-1]), int(by_upper[0])
    is_apart = highest is None and lowest is None and lower[above] > upper[below]
    return Extremes(highest, lowest, (above, below) if is_apart else None)


def _first_other(places: np.ndarray, own: int) -> int:
    """The first of the places that is not one's own."""
    return int(places[0] if places[0] != own else places[1])


def is_certainly_largest(
    largest: float, second: float, half_width: float | None, statements: int, law: NoiseLaw | None = None
) -> bool:
    """Whether the larger one of noisy counts is the largest of so many, with 95 %.

    half_width: of one, in people, at 95 %; None where none is known. Noise on whole numbers lies beyond it by one or
    more, which is what is widened: counts hardly ever moved have a half-width of 0.
    """
    if half_width is None or statements < 2:
        return False
    reach = widening(statements, law) * (half_width + 1)
    return extremes(np.array([largest, second]) - reach, np.array([largest, second]) + reach).highest == 0


def apart_from_all(apart: int, rivals: float, law: NoiseLaw | None = None) -> int:
    """By more than how much a noisy count is above all others if it is certainly the largest, with 95 %.

    apart: what the difference of two counts, picked beforehand, exceeds by noise alone in 5 % of releases. It is wrong
    only if noise puts one of the others so far above a group that is truly the largest, or that one above another as
    large: as many events as groups, each to one side.
    rivals: how many statements share the 5 %; half as many as groups, where nothing else is said.
    """
    return math.ceil(widening(max(1.0, rivals), law) * (apart + 1)) - 1
