"""A numeric column as the cells whose running totals tell its quantiles."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Date, Integer, Real
from mechanisms.moments.column import MeasuredColumn


@dataclass(frozen=True)
class LineColumn:
    """A column of numbers or dates: whole steps for its moments, and at most some 70 cells for its quantiles."""

    measured: MeasuredColumn

    @property
    def attribute(self) -> Integer | Real | Date:
        """The column as it is declared."""
        return self.measured.attribute

    @property
    def reading(self) -> Attribute:
        """The same column declared so that its cells are this line's; the last cell is for missing values.

        The lower and the upper bound are cells of their own, so values at or beyond a bound are counted there.
        """
        raise NotImplementedError

    @property
    def cells(self) -> int:
        """How many cells there are, without the one for missing values."""
        raise NotImplementedError

    @property
    def edges(self) -> tuple[Floats, Floats]:
        """The least and the largest value of each cell, (cells,) each, in the column's unit; dates in days since 1970."""
        raise NotImplementedError
