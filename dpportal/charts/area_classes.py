"""Into which few classes with round limits the numbers of a map fall, as a printed map has them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpportal.charts.svg_paths import round_step
from mechanisms.arrays import Floats

# Shades of a map: as many as can be told apart and named.
CLASSES = 5
# Of the areas so many at most are in one class, or the steps between classes are no even ones.
MOST_IN_ONE = 0.5


def limits(values: Floats, half_width: int | None) -> list[int]:
    """Where classes begin. values: those that are shown; half_width: of each, if all have one.

    Even steps from 0 on, unless most areas would have one shade: then about as many areas in each, with limits of 1, 2
    or 5 times a power of ten, or, of numbers that are much alike, even steps from the smallest on. No class is narrower
    than a margin, which would tell noise apart.
    """
    largest, narrowest = float(values.max(initial=1)), max(1, half_width or 1)
    even = _even_steps(0, largest, narrowest)
    fullest = _share_of_fullest(values, even)
    if fullest <= MOST_IN_ONE or (values.size <= CLASSES and fullest < 1):
        return even
    alike = _even_steps(max(0.0, float(values.min(initial=largest))), largest, narrowest)
    rounded = _rounded_quantiles(values, narrowest)
    return min((even, alike, rounded), key=lambda own: _share_of_fullest(values, own))


def class_of(value: float, begins: Sequence[int]) -> int:
    """The class of a number; one below all is in the first."""
    return max(0, int(np.searchsorted(begins, value, side="right")) - 1)


def _even_steps(smallest: float, largest: float, narrowest: int) -> list[int]:
    """The multiples of a round step from below the smallest to below the largest; at least one."""
    step = math.ceil(round_step(max(largest - smallest, CLASSES * narrowest), CLASSES))
    first = math.floor(smallest / step) * step
    return list(range(first, max(first + 1, math.ceil(largest)), step))


def _share_of_fullest(values: Floats, begins: Sequence[int]) -> float:
    places = np.maximum(np.searchsorted(begins, values, side="right") - 1, 0)
    return float(np.bincount(places, minlength=1).max()) / max(1, values.size)


def _rounded_quantiles(values: Floats, narrowest: int) -> list[int]:
    begins = [0]
    for share in range(1, CLASSES):
        end = _round(float(np.quantile(values, share / CLASSES)))
        if end - begins[-1] >= narrowest and end <= values.max():
            begins.append(end)
    return begins


def _round(value: float) -> int:
    """The nearest of 1, 2 and 5 times a power of ten, by ratio."""
    if value < 1:
        return 1
    power: int = 10 ** math.floor(math.log10(value))
    ends = [factor * power for factor in (1, 2, 5, 10)]
    return min(ends, key=lambda end: abs(math.log(end / value)))
