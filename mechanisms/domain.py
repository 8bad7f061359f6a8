"""The declared domain: what is publicly known about each column, as a finite list of cells.

A domain is a value. It never sees data: every cell exists because a curator declared it. A value outside
the declaration goes to the nearest bound (ordered columns) or to the "other" cell (categories); a missing
or unreadable value goes to a cell of its own or to the "other" cell. A closed column has no cell for what does
not fit: such a row goes where the curator says, or is left out of the count as if it were not there.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

from mechanisms.numerals import number_written

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
    closed: whether there is no cell for what does not fit. misfits_to: of a closed column, the declared cell that
        takes what does not fit; None leaves such rows out of the count.
    """

    name: str
    missing_cell: bool = False
    closed: bool = field(default=False, kw_only=True)
    misfits_to: int | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.misfits_to is not None:
            fits = self.closed and 0 <= self.misfits_to < self.regular_size
            self._require(fits, "only a closed column sends misfits to one of its values.")

    @property
    def regular_size(self) -> int:
        """Number of cells before the cell for missing values."""
        raise TypeError("an Attribute is always one of its kinds")

    @property
    def other(self) -> int | None:
        """The cell that takes what does not fit, and missing values that have no cell; None: the row is left out."""
        return self.misfits_to if self.closed else 0

    def regular_labels(self) -> list[str]:
        raise TypeError("an Attribute is always one of its kinds")

    @property
    def ordered(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return self.regular_size + self.missing_cell

    @property
    def missing(self) -> int | None:
        """The cell of a missing or unreadable value; None: the row is left out."""
        return self.regular_size if self.missing_cell else self.other

    @property
    def leaves_out(self) -> bool:
        """Whether a row can be left out of the count for what it says here."""
        return self.missing is None

    def labels(self) -> list[str]:
        """One label for each cell, in cell order."""
        return [*self.regular_labels(), *([MISSING_LABEL] if self.missing_cell else [])]

    def to_json(self) -> dict[str, Any]:
        closed = {"closed": True, "misfits_to": self.misfits_to} if self.closed else {}
        return {"kind": self.kind, "name": self.name, "missing_cell": self.missing_cell, **closed}

    def _require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise DomainError(f"Column {self.name}: {otherwise}")


@dataclass(frozen=True)
class Categorical(Attribute):
    """Declared values; anything else goes to the cell `Other`, which is added unless it is declared or all is closed.

    as_numbers: whether texts are compared as the numbers that they write, so that 1, 1.0 and 01 are one value.
    """

    values: tuple[str, ...] = ()
    as_numbers: bool = False
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(bool(self.values), "declare at least one value.")
        distinct = len(set(self.values)) == len(self.values)
        self._require(distinct, "a value is declared twice; list each value once.")
        if self.as_numbers:
            numbers = [number_written(value) for value in self.values]
            self._require(None not in numbers, "every value must be a number to be compared as one.")
            apart = len(set(numbers)) == len(numbers)
            self._require(apart, "two values are the same number; list each number once.")

    @cached_property
    def cells(self) -> tuple[str, ...]:
        return self.values if self.closed or OTHER_LABEL in self.values else (*self.values, OTHER_LABEL)

    @property
    def regular_size(self) -> int:
        return len(self.cells)

    @property
    def other(self) -> int | None:
        return self.misfits_to if self.closed else self.cells.index(OTHER_LABEL)

    @property
    def leaves_out(self) -> bool:
        return self.other is None

    def regular_labels(self) -> list[str]:
        return list(self.cells)

    def to_json(self) -> dict[str, Any]:
        numbers = {"as_numbers": True} if self.as_numbers else {}
        return {**super().to_json(), "values": list(self.values), **numbers}


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

    def to_json(self) -> dict[str, Any]:
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

    def to_json(self) -> dict[str, Any]:
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
        written = self._written_edges()
        return [f"{a} to {b}" for a, b in pairwise(written)]

    def _written_edges(self) -> list[str]:
        """The edges in as many digits as tell them apart, at least ten; seventeen always do."""
        for digits in range(10, 18):
            written = [f"{edge:.{digits}g}" for edge in self.all_edges]
            if len(set(written)) == len(written):
                break
        return written

    def to_json(self) -> dict[str, Any]:
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

    @property
    def leaves_out(self) -> bool:
        """Whether a row can be left out of the count; then the number of rows counted is not public."""
        return any(a.leaves_out for a in self.attributes)

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
