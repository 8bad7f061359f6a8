"""A numeric column as the cells whose running totals tell its quantiles."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from mechanisms.accounting import plainly
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute, Date, Integer, Real
from mechanisms.domain.ordered import MAX_SINGLE_VALUES
from mechanisms.moments.column import EPOCH, MeasuredColumn

# Whole numbers and periods up to so many have a cell each; all others are divided into blocks.
MOST_SINGLE, BLOCKS = 128, 62
# Of a block, by which sums of floats may miss its border.
_NEARLY = 1e-6


@dataclass(frozen=True)
class LineColumn:
    """A column of numbers or dates: whole steps for its moments, and at most some 130 cells for its quantiles."""

    measured: MeasuredColumn

    @classmethod
    def of(cls, attribute: Attribute) -> LineColumn:
        """A declared column with the usual step. Raises PlanError if it has no mean."""
        return cls(MeasuredColumn.of(attribute))

    @property
    def attribute(self) -> Integer | Real | Date:
        """The column as it is declared."""
        return self.measured.attribute

    @cached_property
    def reading(self) -> Integer | Real | Date:
        """The same column declared so that its cells are this line's; the last cell is for missing values.

        Of numbers the lower and the upper bound are cells of their own, where values at or beyond a bound are counted,
        and so are declared single values. Dates are counted in the shortest periods that are few.
        """
        a, source, title = self.attribute, self.attribute.source, self.attribute.title
        if isinstance(a, Date):
            return next(d for d in _dates(a) if d.regular_size <= MOST_SINGLE or d.step == "year")
        bounds = (a.lower, a.upper)
        singles = tuple(sorted({*bounds, *a.single_values}))
        singles = singles if len(singles) <= MAX_SINGLE_VALUES else bounds
        if isinstance(a, Real):
            return Real(
                a.name, True, a.lower, a.upper, BLOCKS, single_values=singles, source=source, title=title
            )
        width = -(-(a.upper - a.lower + 1) // (MOST_SINGLE if self._is_short else BLOCKS))
        own_cells = () if width == 1 else singles
        return Integer(
            a.name, True, a.lower, a.upper, width, single_values=own_cells, source=source, title=title
        )

    @property
    def _is_short(self) -> bool:
        return self.measured.range < MOST_SINGLE

    @property
    def bound_texts(self) -> tuple[str, str]:
        """The declared bounds, as people write them: the last of the whole steps may end below the upper one."""
        lower, upper = self.measured.bound_texts
        return lower, upper if self.measured.is_date else plainly(self.measured.lower + self.measured.range)

    @property
    def cells(self) -> int:
        """How many cells there are, without the one for missing values."""
        return self.reading.regular_size

    @cached_property
    def edges(self) -> tuple[Floats, Floats]:
        """The least and the largest value of each cell, (cells,) each, in the column's unit.

        Dates are days since 1970.
        """
        pairs = [self.reading.bounds(cell) for cell in range(self.cells)]
        low, high = (np.array([_number(end) for end in ends]) for ends in zip(*pairs, strict=True))
        return low, high

    @property
    def borders(self) -> Floats:
        """(cells + 1,) where each cell begins and the last one ends: whole numbers and days are as wide as one."""
        starts, ends = self.edges
        return np.append(starts, ends[-1] + (1 if self.has_integer_values else 0))

    @cached_property
    def blocks(self) -> Integers:
        """(cells,) the block of each cell, from 0 on: single values belong to the one that they lie in, or begin."""
        if isinstance(self.attribute, Date):
            return np.arange(self.cells)
        starts = self.borders[:-1]
        width = np.diff(self.borders).max()
        last = math.ceil((self.borders[-1] - starts[0]) / width - _NEARLY) - 1
        # A float may miss a border by its last digit.
        blocks: Integers = np.minimum(np.floor((starts - starts[0]) / width + _NEARLY), last).astype(np.int64)
        return blocks

    @cached_property
    def cell_of_step(self) -> Integers | None:
        """(W + 1,) the cell of each whole step, where every value is one; None where a step may have several cells."""
        if self.floor_error:
            return None
        values = float(self.measured.lower) + np.arange(self.measured.steps + 1)
        cells: Integers = np.searchsorted(self.edges[0], values, side="right") - 1
        return cells

    @property
    def is_single_valued(self) -> bool:
        """Whether each cell is one value, so that cells tell mean and deviation, too."""
        return bool((self.edges[0] == self.edges[1]).all())

    @property
    def has_integer_values(self) -> bool:
        """Whether its values are whole numbers, or days: quantiles are values, and so whole, too."""
        return not isinstance(self.attribute, Real)

    @property
    def floor_error(self) -> float:
        """By how much a value may be above its whole step, in the column's unit."""
        return self.measured.floor_error


def is_line(attribute: Attribute) -> bool:
    """Whether a column has a mean: of one with a single value it is known, and it is told as a category."""
    return isinstance(attribute, Integer | Real | Date) and attribute.lower != attribute.upper


def _dates(a: Date) -> Iterator[Date]:
    """By ever longer periods."""
    steps: tuple[Literal["day", "week", "month", "quarter", "year"], ...] = (
        "day", "week", "month", "quarter", "year",
    )  # fmt: skip
    return (Date(a.name, True, a.lower, a.upper, step, source=a.source, title=a.title) for step in steps)


def _number(value: float | dt.date) -> float:
    return float((value - EPOCH).days) if isinstance(value, dt.date) else float(value)
