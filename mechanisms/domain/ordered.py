"""Columns whose values have an order and bounds: whole numbers, real numbers, days."""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

from mechanisms.domain.attribute import Attribute

STEPS = ("day", "week", "month", "quarter", "year")
MAX_OWN_EDGES = 10_000
MAX_SINGLE_VALUES = 100
# Of more bins the edges are not all computed only to count them.
MAX_LISTED_BINS = 10**6
# Leaves room in 64 bits for the width of any bin.
MAX_INTEGER = 10**18


@dataclass(frozen=True)
class _Bounded(Attribute):
    """A column whose values have an order, from `lower` to `upper`; a subclass says how they are divided."""

    lower: Any = 0
    upper: Any = 0

    def __post_init__(self) -> None:
        self._require(self.lower <= self.upper, "the lower limit is above the upper limit; exchange them.")
        super().__post_init__()

    @property
    def ordered(self) -> bool:
        return True

    def bounds(self, cell: int) -> tuple[Any, Any]:
        """Where a cell begins and ends."""
        raise TypeError("a bounded column is always one of its kinds")

    def start(self, cell: int) -> Any:
        """The least value of a cell."""
        return self.bounds(cell)[0]

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class _Numeric(_Bounded):
    """A column of numbers, in bins and in single values that have a cell of their own.

    single_values: such as 0 or a top code, rising. The bin that holds one is divided into what is below it, the value
    itself and what is above it, so cells keep their order. They are declared, never found in data.
    """

    single_values: tuple[Any, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        values = self.single_values
        few = len(values) <= MAX_SINGLE_VALUES
        self._require(
            few,
            "give at most {max_single_values} values a cell of their own.",
            max_single_values=MAX_SINGLE_VALUES,
        )
        within = all(self.lower <= value <= self.upper for value in values)
        self._require(within, "values of their own must lie within the limits.")
        rising = not any(a >= b for a, b in pairwise(values))
        self._require(rising, "give each value of its own once, in rising order.")

    def _next(self, value: Any) -> Any:
        """The least number above a value."""
        raise TypeError("a column of numbers is always one of its kinds")

    def _begins_bin(self, number: Any) -> bool:
        """Whether a bin begins there."""
        raise TypeError("a column of numbers is always one of its kinds")

    @cached_property
    def _parted(self) -> tuple[Any, ...]:
        """Where single values begin a cell that is not a bin's beginning, or the rest of their bin does."""
        ends = {end for value in self.single_values for end in (value, self._next(value))}
        return tuple(sorted(end for end in ends if end <= self.upper and not self._begins_bin(end)))

    @cached_property
    def single_cells(self) -> tuple[int, ...]:
        """The cells of single values, in order."""
        cells = range(self.regular_size)
        return tuple(bisect_left(cells, value, key=self.start) for value in self.single_values)

    def to_json(self) -> dict[str, object]:
        singles = {"single_values": list(self.single_values)} if self.single_values else {}
        return {**super().to_json(), **singles}

    def _check_edges(self, edges: Sequence[float]) -> None:
        if not edges:
            return
        enough = 2 <= len(edges) <= MAX_OWN_EDGES
        self._require(enough, "give between 2 and {max_own_edges:,} bin edges.", max_own_edges=MAX_OWN_EDGES)
        increasing = not any(a >= b for a, b in pairwise(edges))
        self._require(increasing, "bin edges must increase, each above the one before.")
        spanning = (edges[0], edges[-1]) == (self.lower, self.upper)
        self._require(spanning, "the first and last edge must be the lower and the upper limit.")


@dataclass(frozen=True)
class Integer(_Numeric):
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
        self._require(within, "whole numbers must lie within ±{max_integer:,}.", max_integer=MAX_INTEGER)
        self._require(self.width >= 1, "the bin width must be at least 1.")
        super().__post_init__()
        self._check_edges(self.edges)

    @property
    def regular_size(self) -> int:
        return len(self._bin_starts) + len(self._parted)

    @cached_property
    def _bin_starts(self) -> Sequence[int]:
        """The first whole number of each bin, as if no value were single."""
        return self.edges[:-1] or range(self.lower, self.upper + 1, self.width)

    def _next(self, value: int) -> int:
        return value + 1

    def _begins_bin(self, number: int) -> bool:
        return number in self._bin_starts

    @cached_property
    def starts(self) -> Sequence[int]:
        """The first whole number of each cell, rising."""
        return tuple(sorted((*self._bin_starts, *self._parted))) if self._parted else self._bin_starts

    @property
    def is_even(self) -> bool:
        """Whether all cells but the last hold equally many whole numbers."""
        return not (self.edges or self._parted)

    def bounds(self, cell: int) -> tuple[int, int]:
        """First and last whole number of a cell."""
        last = cell == self.regular_size - 1
        return self.starts[cell], self.upper if last else self.starts[cell + 1] - 1

    def regular_labels(self) -> list[str]:
        pairs = map(self.bounds, range(self.regular_size))
        return [str(first) if first == last else f"{first}–{last}" for first, last in pairs]

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "width": self.width, "edges": list(self.edges)}


@dataclass(frozen=True)
class Real(_Numeric):
    """Numbers lower..upper in `bins` of equal width, or own `edges`.

    Bins are closed on the left, the last one on both sides; a bin after a single value is open there.
    """

    lower: float = 0.0
    upper: float = 1.0
    bins: int = 1
    edges: tuple[float, ...] = ()
    kind: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        numbers = (self.lower, self.upper, self.upper - self.lower, *self.edges)
        self._require(all(map(math.isfinite, numbers)), "limits and edges must be finite numbers.")
        self._require(self.lower != self.upper, "the upper limit must be above the lower limit.")
        super().__post_init__()
        self._require(self.bins >= 1, "declare at least 1 bin.")
        listed = self.bins <= MAX_LISTED_BINS or not self.single_values
        self._require(
            listed,
            "beside values of their own declare at most {max_listed_bins:,} bins.",
            max_listed_bins=MAX_LISTED_BINS,
        )
        self._check_edges(self.edges)
        # Neighbouring doubles are farthest apart at the larger bound; edges two of them apart stay apart when rounded.
        spacing = math.ulp(max(abs(self.lower), abs(self.upper)))
        narrow = not self.edges and (self.upper - self.lower) / self.bins < 2 * spacing
        self._require(not narrow, "the bins are narrower than numbers can tell; declare fewer.")

    @property
    def regular_size(self) -> int:
        return self._bin_count + len(self._parted)

    @cached_property
    def _bin_edges(self) -> tuple[float, ...]:
        """Every bin's lower edge and the upper bound, as if no value were single."""
        return self.edges or tuple(map(self._equal_edge, range(self.bins + 1)))

    @cached_property
    def all_edges(self) -> tuple[float, ...]:
        """The least number of every cell and the upper bound: the one list that counting, labels and intervals use.

        The cell above a single value begins at the next double; a single upper bound stands twice, the last cell alone.
        """
        if not self._parted:
            return self._bin_edges
        return (*sorted((*self._bin_edges[:-1], *self._parted)), self.upper)

    @property
    def is_even(self) -> bool:
        """Whether all cells are equally wide."""
        return not (self.edges or self.single_values)

    def _equal_edge(self, place: int) -> float:
        """The exact decimal of the typed bounds, rounded once: 23 steps of 0.1 above 4.0 are 6.3, as a file says it."""
        lower, upper = self._typed_bounds
        return float(lower + (upper - lower) * place / self.bins)

    @cached_property
    def _typed_bounds(self) -> tuple[Fraction, Fraction]:
        return Fraction(repr(self.lower)), Fraction(repr(self.upper))

    def _bin_edge(self, place: int) -> float:
        return self.edges[place] if self.edges else self._equal_edge(place)

    def _next(self, value: float) -> float:
        return math.nextafter(value, math.inf)

    def _begins_bin(self, number: float) -> bool:
        place = self._bins_below(number)
        return place < self._bin_count and self._bin_edge(place) == number

    def _bins_below(self, number: float) -> int:
        """How many bins begin below it."""
        return bisect_left(range(self._bin_count), number, key=self._bin_edge)

    @property
    def _bin_count(self) -> int:
        return len(self.edges) - 1 if self.edges else self.bins

    @cached_property
    def _parted_cells(self) -> tuple[int, ...]:
        """The cells that begin so, rising."""
        return tuple(self._bins_below(edge) + place for place, edge in enumerate(self._parted))

    def _edge(self, place: int) -> float:
        """One of `all_edges`: of many bins no list is made while a page waits."""
        if place == self.regular_size:
            return self.upper
        before = bisect_left(self._parted_cells, place)
        is_parted = place in self._parted_cells[before : before + 1]
        return self._parted[before] if is_parted else self._bin_edge(place - before)

    def start(self, cell: int) -> float:
        return self._edge(cell)

    def bounds(self, cell: int) -> tuple[float, float]:
        """Lower and upper edge of a cell, the same of a single value; the cell above that begins beyond the edge."""
        if cell in self.single_cells:
            return self._edge(cell), self._edge(cell)
        lower = cell - 1 if cell - 1 in self.single_cells else cell
        return self._edge(lower), self._edge(cell + 1)

    def regular_labels(self) -> list[str]:
        written = self._written_edges()
        return [self._label(cell, written) for cell in range(self.regular_size)]

    def _label(self, cell: int, written: dict[float, str]) -> str:
        lower, upper = (written[edge] for edge in self.bounds(cell))
        if cell in self.single_cells:
            return lower
        return f"above {lower} to {upper}" if cell - 1 in self.single_cells else f"{lower} to {upper}"

    def _written_edges(self) -> dict[float, str]:
        """The edges in as many digits as tell them apart, at least ten; seventeen always do.

        Between bins of equal width one that needs more is rounded, to a thousandth of the width: thirds are 0.3333.
        """
        edges = sorted({*self._bin_edges, *self.single_values})
        for digits in range(10, 18):
            written = {edge: f"{edge:.{digits}g}" for edge in edges}
            if len(set(written.values())) == len(edges):
                break
        if self.edges or digits > 10:
            return written
        decimals = max(0, 3 - math.floor(math.log10((self.upper - self.lower) / self.bins)))
        for edge in {*self._bin_edges[1:-1]} - {*self.single_values}:
            if float(written[edge]) != edge:
                written[edge] = f"{round(edge, decimals):.10g}"
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
        self._require(self.step in STEPS, "group dates by one of {names}.", names=", ".join(STEPS))

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


# Columns whose values have an order, and so bounds and bins.
Ordered = Integer | Real | Date
