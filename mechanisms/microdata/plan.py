"""All that synthetic microdata will do, decided without data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.histogram.spending import share_of
from mechanisms.json_types import JsonObject
from mechanisms.microdata.cell_rows import CellRows
from mechanisms.microdata.components import Components
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.tables import Grouping, Pair, PairTables
from mechanisms.noise import NoiseLaw
from mechanisms.sensitivity import histogram_sensitivity


@dataclass(frozen=True)
class MicrodataPlan:
    """Columns, wishes and how the loss is shared by the steps.

    shares: of the loss by step, exact, sum 1. rows: how many synthetic rows; None: the noisy total. total: the number
    of rows where that is public, else None. pairwise: whether pairs are counted, or single columns alone. keep:
    how many columns go on, those that tell most about the target; None: all. criterion:
    what they are chosen by, of `features.CRITERIA`. replicates: whether tables for standard errors are made, too. sums:
    whether columns of numbers and dates are added up, too (`column_sums`).
    """

    mechanism: str
    domain: Domain
    loss: Loss
    wishes: Wishes
    shares: Mapping[str, Fraction]
    rows: int | None
    total: int | None
    pairwise: bool
    keep: int | None
    explanation: str
    criterion: str = "distance"
    replicates: bool = False
    sums: bool = False

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The tables whose counts are measured, one after the other, each by its columns."""
        names = self.domain.names
        return tuple(combinations(names, 2)) if self.pairwise else tuple((name,) for name in names)

    @property
    def shape_of_rows(self) -> Sequence[int]:
        """The cells of the columns that the rows have: where some are chosen, of as many of the largest."""
        shape = self.domain.shape
        return shape if self.keep is None else sorted(shape)[-self.keep :]

    @cached_property
    def tables(self) -> PairTables:
        return PairTables(self.domain.shape)

    @property
    def cells(self) -> int:
        """Cells of all counted tables together."""
        return self.tables.size if self.pairwise else sum(self.domain.shape)

    @property
    def pair_deviation(self) -> float:
        """A standard error to expect of a table of pairs: as if 6/10 of the loss served one more than the columns."""
        moved, tables = histogram_sensitivity(self.loss.unit), len(self.domain.shape) + 1
        amount = 0.6 * float(self.loss.amount)
        if self.loss.definition is Definition.PURE:
            return math.sqrt(2) * moved.l1 * tables / amount
        return math.sqrt(moved.l2_squared * tables / (2 * amount))

    def of_columns(self, places: Sequence[int]) -> MicrodataPlan:
        """What is left of the plan where only the columns at these places go on; the loss is the same."""
        domain = Domain(tuple(self.domain.attributes[place] for place in places))
        return replace(self, domain=domain, wishes=self.wishes.among(domain.names), keep=None)

    def step(self, name: str) -> Loss:
        """What a step costs."""
        return share_of(self.loss, self.shares[name])

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "domain": self.domain.to_json(),
            "loss": self.loss.to_json(),
            "wishes": self.wishes.to_json(),
            "shares": {name: str(share) for name, share in self.shares.items()},
            "rows": self.rows,
            "total": self.total,
            "pairwise": self.pairwise,
            "keep": self.keep,
            "explanation": self.explanation,
            "criterion": self.criterion,
            "replicates": self.replicates,
            "sums": self.sums,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> MicrodataPlan:
        read = {
            "domain": Domain.from_json(value["domain"]),
            "loss": Loss.from_json(value["loss"]),
            "wishes": Wishes.from_json(value["wishes"]),
            "shares": {name: Fraction(share) for name, share in value["shares"].items()},
        }
        return cls(**{**value, **read})


# Counts are whole: that of a rounding. Fits take noise to be no less, or they would divide by nearly nothing.
LEAST_VARIANCE = 1 / 12


@dataclass(frozen=True)
class MeasuredTable:
    """A noisy table of a pair's groups: (groups, groups) integers, the noise of each, and a variance for fits."""

    pair: Pair
    values: Integers
    variance: float
    noise: NoiseLaw

    @property
    def half_width(self) -> int:
        """Half of a count's 95 % interval."""
        return self.noise.half_width()


@dataclass(frozen=True)
class MicrodataResult:
    """Synthetic rows, and what was measured.

    columns: the places of those that the rows have. rows: (n, columns) cells. total: the estimated number of rows.
    margins: for each of all columns (c,) noisy counts; half_widths: of their 95 % intervals. smoothed: estimates of
    them that are not negative. sums: of the columns that `column_sums` names, measured; None where the plan has none.
    grouping and tables: of the measured pairs, by their places among `columns`; None and
    empty where none was measured. components: those of a method that finds some. replicates: tables for standard
    errors, (rows, columns) cells each, the one that is fitted to the measurement first; empty unless the plan asks.
    """

    columns: tuple[int, ...]
    rows: CellRows
    total: float
    margins: tuple[Integers, ...]
    half_widths: tuple[int, ...]
    smoothed: tuple[Floats, ...]
    sums: Integers | None = None
    grouping: Grouping | None = None
    tables: tuple[MeasuredTable, ...] = ()
    components: Components | None = None
    replicates: tuple[CellRows, ...] = ()
