"""Columns whose values have an order and bounds: whole numbers, real numbers, days."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

from mechanisms.domain.attribute import Attribute

STEPS = ("day", "week", "month", "quarter", "year")
MAX_OWN_EDGES = 10_000
# Leaves room in 64 bits for the width of any bin.
MAX_INTEGER = 10**18


@dataclass(frozen=True)
class _Bounded(Attribute):
    """A column whose values have an order, from `lower` to `upper`; a subclass says how they are divided."""

    lower: Any = 0
    upper: Any = 0

    def __post_init__(self) -> None:
        self._require(self.lower <= self.upper, "the lower bound is above the upper bound; exchange them.")
        super().__post_init__()

    @property
    def ordered(self) -> bool:
        return True

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "lower": self.lower, "upper": self.upper}

    def _check_edges(self, edges: Sequence[float]) -> None:
        if not edges:
            return
        enough = 2 <= len(edges) <= MAX_OWN_EDGES
        self._require(enough, f"give between 2 and {MAX_OWN_EDGES:,} bin edges.")
        increasing = not any(a >= b for a, b in pairwise(edges))
        self._require(increasing, "bin edges must increase, each above the one before.")
        spanning = (edges[0], edges[-1]) == (self.lower, self.upper)
        self._require(spanning, "the first and last edge must be the lower and the upper bound.")


@dataclass(frozen=True)
class Integer(_Bounded):
    """Whole numbers lower..upper in bins: `width` values each (1: a cell per value), or own `edges`.

    Own edges e_0 < ... < e_k: bin i holds e_i <= x < e_{i+1}, the last bin also e_k. They span the bounds.
    """

    lower: int = 0
    upper: int = 0
    width: int = 1
    edges: tuple[int, ...] = ()
    kind: ClassVar[str] = "integer"

    def __post_init__(self) -> None:
        within = max(abs(self.lower), abs(self.upper)) <= MAX_INTEGER
        self._require(within, f"whole numbers must lie within ±{MAX_INTEGER:,}.")
        self._require(self.width >= 1, "the bin width must be at least 1.")
        super().__post_init__()
        self._check_edges(self.edges)

    @property
    def regular_size(self) -> int:
        if self.edges:
            return len(self.edges) - 1
        return -(-(self.upper - self.lower + 1) // self.width)

    def bounds(self, cell: int) -> tuple[int, int]:
        """First and last whole number of a bin."""
        if self.edges:
            last = cell == len(self.edges) - 2
            return self.edges[cell], self.edges[cell + 1] - (0 if last else 1)
        first = self.lower + cell * self.width
        return first, min(first + self.width - 1, self.upper)

    def regular_labels(self) -> list[str]:
        pairs = map(self.bounds, range(self.regular_size))
        return [str(first) if first == last else f"{first}–{last}" for first, last in pairs]

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "width": self.width, "edges": list(self.edges)}


@dataclass(frozen=True)
class Real(_Bounded):
    """Numbers lower..upper in `bins` of equal width, or own `edges`.

    Bins are closed on the left, the last one on both sides.
    """

    lower: float = 0.0
    upper: float = 1.0
    bins: int = 1
    edges: tuple[float, ...] = ()
    kind: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        numbers = (self.lower, self.upper, self.upper - self.lower, *self.edges)
        self._require(all(map(math.isfinite, numbers)), "bounds and edges must be finite numbers.")
        self._require(self.lower != self.upper, "the upper bound must be above the lower bound.")
        super().__post_init__()
        self._require(self.bins >= 1, "declare at least 1 bin.")
        self._check_edges(self.edges)
        # Neighbouring doubles are farthest apart at the larger bound; edges two of them apart stay apart when rounded.
        spacing = math.ulp(max(abs(self.lower), abs(self.upper)))
        narrow = not self.edges and (self.upper - self.lower) / self.bins < 2 * spacing
        self._require(not narrow, "the bins are narrower than numbers can tell; declare fewer.")

    @property
    def regular_size(self) -> int:
        return len(self.edges) - 1 if self.edges else self.bins

    @cached_property
    def all_edges(self) -> tuple[float, ...]:
        """Every bin's lower edge and the upper bound, rising: the one list that counting, labels and intervals use."""
        return self.edges or tuple(map(self._equal_edge, range(self.bins + 1)))

    def _equal_edge(self, place: int) -> float:
        """The exact decimal of the typed bounds, rounded once: 23 steps of 0.1 above 4.0 are 6.3, as a file says it."""
        lower, upper = Fraction(repr(self.lower)), Fraction(repr(self.upper))
        return float(lower + (upper - lower) * place / self.bins)

    def bounds(self, cell: int) -> tuple[float, float]:
        """Lower and upper edge of a bin."""
        return self.all_edges[cell], self.all_edges[cell + 1]

    def regular_labels(self) -> list[str]:
        return [f"{a} to {b}" for a, b in pairwise(self._written_edges())]

    def _written_edges(self) -> list[str]:
        """The edges in as many digits as tell them apart, at least ten; seventeen always do.

        Between bins of equal width one that needs more is rounded, to a thousandth of the width: thirds are 0.3333.
        """
        for digits in range(10, 18):
            written = [f"{edge:.{digits}g}" for edge in self.all_edges]
            if len(set(written)) == len(written):
                break
        if self.edges or digits > 10:
            return written
        decimals = max(0, 3 - math.floor(math.log10((self.upper - self.lower) / self.bins)))
        for place in range(1, self.bins):
            edge = self.all_edges[place]
            if float(written[place]) != edge:
                written[place] = f"{round(edge, decimals):.10g}"
        return written

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "bins": self.bins, "edges": list(self.edges)}


@dataclass(frozen=True)
class Date(_Bounded):
    """Days lower..upper grouped by calendar `step`; weeks start on Monday."""

    lower: dt.date = dt.date(2000, 1, 1)
    upper: dt.date = dt.date(2000, 12, 31)
    step: Literal["day", "week", "month", "quarter", "year"] = "month"
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(self.step in STEPS, f"group dates by one of {', '.join(STEPS)}.")

    def period(self, day: dt.date) -> int:
        """The number of the calendar period that holds a day, counted from a fixed origin."""
        if self.step == "day":
            return day.toordinal()
        if self.step == "week":
            return (day.toordinal() - 1) // 7
        if self.step == "month":
            return day.year * 12 + day.month - 1
        return day.year * 4 + (day.month - 1) // 3 if self.step == "quarter" else day.year

    def period_start(self, period: int) -> dt.date:
        """The first day of a calendar period; the inverse of `period`."""
        if self.step == "day":
            return dt.date.fromordinal(period)
        if self.step == "week":
            return dt.date.fromordinal(period * 7 + 1)
        if self.step == "month":
            return dt.date(period // 12, period % 12 + 1, 1)
        if self.step == "quarter":
            return dt.date(period // 4, period % 4 * 3 + 1, 1)
        return dt.date(period, 1, 1)

    @property
    def regular_size(self) -> int:
        return self.period(self.upper) - self.period(self.lower) + 1

    def bounds(self, cell: int) -> tuple[dt.date, dt.date]:
        """First and last day of a cell, within the declared bounds."""
        first = self.period(self.lower) + cell
        last = self.upper if cell == self.regular_size - 1 else self.period_start(first + 1) - dt.timedelta(1)
        return max(self.lower, self.period_start(first)), last

    def regular_labels(self) -> list[str]:
        return [self._label(self.period(self.lower) + cell) for cell in range(self.regular_size)]

    def _label(self, period: int) -> str:
        if self.step == "quarter":
            return f"{period // 4}-Q{period % 4 + 1}"
        start = self.period_start(period).isoformat()
        return {"year": start[:4], "month": start[:7]}.get(self.step, start)

    def to_json(self) -> dict[str, object]:
        extra = {"lower": self.lower.isoformat(), "upper": self.upper.isoformat(), "step": self.step}
        return {**super().to_json(), **extra}
