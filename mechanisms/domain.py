"""The declared domain: what is publicly known about each column, as a finite list of cells.

A domain is a value. It never sees data: every cell exists because a curator declared it. A value outside
the declaration goes to the nearest bound (ordered columns) or to the "other" cell (categories); a missing
or unreadable value goes to a cell of its own or to the "other" cell.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

MISSING_LABEL = "Missing"
OTHER_LABEL = "Other"
STEPS = ("day", "week", "month", "quarter", "year")
MAX_OWN_EDGES = 10_000
# Leaves room in 64 bits for the width of any bin.
MAX_INTEGER = 10**18


class DomainError(ValueError):
    """A declaration that cannot be a domain; the message says what to change and names no data."""


@dataclass(frozen=True)
class Attribute:
    """A column's cells, in order.

    missing_cell: whether missing values have a cell of their own, the last.
    """

    name: str
    missing_cell: bool = False
    kind: ClassVar[str] = ""

    @property
    def regular_size(self) -> int:
        """Number of cells before the cell for missing values."""
        raise TypeError("an Attribute is always one of its kinds")

    @property
    def other(self) -> int:
        """The cell that takes missing and unreadable values when they have no cell of their own."""
        return 0

    def regular_labels(self) -> list[str]:
        raise TypeError("an Attribute is always one of its kinds")

    @property
    def ordered(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return self.regular_size + self.missing_cell

    @property
    def missing(self) -> int:
        """The cell of a missing or unreadable value."""
        return self.regular_size if self.missing_cell else self.other

    def labels(self) -> list[str]:
        """One label for each cell, in cell order."""
        return [*self.regular_labels(), *([MISSING_LABEL] if self.missing_cell else [])]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "missing_cell": self.missing_cell}


@dataclass(frozen=True)
class Categorical(Attribute):
    """Declared values; anything else goes to the cell `Other`, which is added unless it is declared."""

    values: tuple[str, ...] = ()
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        if not self.values:
            raise DomainError(f"Column {self.name}: declare at least one value.")
        if len(set(self.values)) != len(self.values):
            raise DomainError(f"Column {self.name}: a value is declared twice; list each value once.")

    @cached_property
    def cells(self) -> tuple[str, ...]:
        return self.values if OTHER_LABEL in self.values else (*self.values, OTHER_LABEL)

    @property
    def regular_size(self) -> int:
        return len(self.cells)

    @property
    def other(self) -> int:
        return self.cells.index(OTHER_LABEL)

    def regular_labels(self) -> list[str]:
        return list(self.cells)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "values": list(self.values)}


@dataclass(frozen=True)
class Boolean(Attribute):
    """False, then true."""

    kind: ClassVar[str] = "boolean"

    @property
    def regular_size(self) -> int:
        return 2

    def regular_labels(self) -> list[str]:
        return ["false", "true"]


@dataclass(frozen=True)
class Integer(Attribute):
    """Whole numbers lower..upper in bins: `width` values each (1: a cell per value), or own `edges`.

    Own edges e_0 < ... < e_k: bin i holds e_i <= x < e_{i+1}, the last bin also e_k. They span the bounds.
    """

    lower: int = 0
    upper: int = 0
    width: int = 1
    edges: tuple[int, ...] = ()
    kind: ClassVar[str] = "integer"

    def __post_init__(self) -> None:
        _check_bounds(self.name, self.lower, self.upper)
        if max(abs(self.lower), abs(self.upper)) > MAX_INTEGER:
            raise DomainError(f"Column {self.name}: whole numbers must lie within ±{MAX_INTEGER:,}.")
        if self.width < 1:
            raise DomainError(f"Column {self.name}: the bin width must be at least 1.")
        _check_edges(self.name, self.edges, self.lower, self.upper)

    @property
    def ordered(self) -> bool:
        return True

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

    def to_json(self) -> dict[str, Any]:
        extra = {"lower": self.lower, "upper": self.upper, "width": self.width, "edges": list(self.edges)}
        return {**super().to_json(), **extra}


@dataclass(frozen=True)
class Real(Attribute):
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
        if not all(map(math.isfinite, numbers)):
            raise DomainError(f"Column {self.name}: bounds and edges must be finite numbers.")
        if self.lower == self.upper:
            raise DomainError(f"Column {self.name}: the upper bound must be above the lower bound.")
        _check_bounds(self.name, self.lower, self.upper)
        if self.bins < 1:
            raise DomainError(f"Column {self.name}: declare at least 1 bin.")
        _check_edges(self.name, self.edges, self.lower, self.upper)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def regular_size(self) -> int:
        return len(self.edges) - 1 if self.edges else self.bins

    def bounds(self, cell: int) -> tuple[float, float]:
        """Lower and upper edge of a bin."""
        if self.edges:
            return self.edges[cell], self.edges[cell + 1]
        step = (self.upper - self.lower) / self.bins
        upper = self.upper if cell == self.bins - 1 else self.lower + (cell + 1) * step
        return self.lower + cell * step, upper

    def regular_labels(self) -> list[str]:
        return [f"{a:.10g} to {b:.10g}" for a, b in map(self.bounds, range(self.regular_size))]

    def to_json(self) -> dict[str, Any]:
        extra = {"lower": self.lower, "upper": self.upper, "bins": self.bins, "edges": list(self.edges)}
        return {**super().to_json(), **extra}


@dataclass(frozen=True)
class Date(Attribute):
    """Days lower..upper grouped by calendar `step`; weeks start on Monday."""

    lower: dt.date = dt.date(2000, 1, 1)
    upper: dt.date = dt.date(2000, 12, 31)
    step: Literal["day", "week", "month", "quarter", "year"] = "month"
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        _check_bounds(self.name, self.lower, self.upper)
        if self.step not in STEPS:
            raise DomainError(f"Column {self.name}: group dates by one of {', '.join(STEPS)}.")

    @property
    def ordered(self) -> bool:
        return True

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

    def to_json(self) -> dict[str, Any]:
        extra = {"lower": self.lower.isoformat(), "upper": self.upper.isoformat(), "step": self.step}
        return {**super().to_json(), **extra}


@dataclass(frozen=True)
class Domain:
    """The product of its attributes' cells, in C order (the last attribute changes fastest)."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if len({a.name for a in self.attributes}) != len(self.attributes):
            raise DomainError("A column appears twice in the domain.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.attributes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.attributes)

    @cached_property
    def size(self) -> int:
        """Number of cells, an exact Python integer however large."""
        return math.prod(self.shape)

    def project(self, names: Sequence[str]) -> Domain:
        """The domain of some of the columns, in the order given."""
        by_name = {a.name: a for a in self.attributes}
        return Domain(tuple(by_name[name] for name in names))

    def to_json(self) -> list[dict[str, Any]]:
        return [a.to_json() for a in self.attributes]

    @classmethod
    def from_json(cls, value: Sequence[Mapping[str, Any]]) -> Domain:
        return cls(tuple(map(attribute_from_json, value)))


KINDS: dict[str, type[Attribute]] = {c.kind: c for c in (Categorical, Boolean, Integer, Real, Date)}


def attribute_from_json(value: Mapping[str, Any]) -> Attribute:
    """Build an attribute from what its `to_json` wrote."""
    fields: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in value.items() if key != "kind"
    }
    if value["kind"] == Date.kind:
        fields |= {key: dt.date.fromisoformat(fields[key]) for key in ("lower", "upper")}
    return KINDS[value["kind"]](**fields)


def _check_bounds(name: str, lower: Any, upper: Any) -> None:
    if lower > upper:
        raise DomainError(f"Column {name}: the lower bound is above the upper bound; exchange them.")


def _check_edges(name: str, edges: Sequence[float], lower: float, upper: float) -> None:
    if not edges:
        return
    if not 2 <= len(edges) <= MAX_OWN_EDGES:
        raise DomainError(f"Column {name}: give between 2 and {MAX_OWN_EDGES:,} bin edges.")
    if any(a >= b for a, b in pairwise(edges)):
        raise DomainError(f"Column {name}: bin edges must increase, each above the one before.")
    if (edges[0], edges[-1]) != (lower, upper):
        raise DomainError(f"Column {name}: the first and last edge must be the lower and the upper bound.")
