"""An axis of a drawing that stands still: where it runs, and its marks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpportal.charts.cell_names import named
from dpportal.charts.svg_paths import round_step
from dpportal.charts.trace_values import number_text, plain_label
from mechanisms.domain import MISSING_LABEL, OTHER_LABEL

# Pixels of a line of words, and marks of an axis of numbers.
LINE, TICKS = 15, 6


@dataclass(frozen=True)
class Axis:
    """One axis of a subplot: where on the drawing it runs, and what it shows. categories: in order, or empty.

    mirrored: whether its numbers grow to both sides. suffix: after each number.
    """

    begin: float
    end: float
    low: float
    high: float
    categories: Mapping[str | float, int]
    shown: bool
    title: str
    mirrored: bool = False
    suffix: str = ""

    def at(self, value: str | float) -> float:
        place = self.categories[value] if self.categories else float(value)
        return self.begin + (self.end - self.begin) * (place - self.low) / (self.high - self.low)

    def along(self, values: Sequence[str | float]) -> list[float]:
        """The places of many values, as `at` has each."""
        places = np.array([self.categories[v] if self.categories else v for v in values], dtype=float)
        along: list[float] = (
            self.begin + (self.end - self.begin) * (places - self.low) / (self.high - self.low)
        ).tolist()
        return along

    @property
    def step(self) -> float:
        """Pixels of one category."""
        return abs(self.end - self.begin) / (self.high - self.low)

    def marks(self) -> list[tuple[str | float, str]]:
        """Where labels stand, and their words: of many categories every so many."""
        if self.categories:
            fitting = max(1, int(abs(self.end - self.begin) / LINE))
            every = -(-len(self.categories) // fitting)
            return thinned([(value, plain_label(str(value))) for value in self.categories], every)
        step = round_step(self.high - self.low, TICKS)
        places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        size = abs if self.mirrored else float
        written = [(place * step, number_text(size(place * step), 6) + self.suffix) for place in places]
        return [(place, text.replace("-", "\N{MINUS SIGN}")) for place, text in written]


def thinned(marks: Sequence[tuple[str | float, str]], every: int) -> list[tuple[str | float, str]]:
    """Every so many of the labels, and the last one if it is a cell of the portal's own: no part of any order."""
    *order, last = marks
    if every == 1 or last[1] not in named((OTHER_LABEL, MISSING_LABEL)):
        return list(marks[::every])
    return [*order[: len(marks) - every : every], last]
