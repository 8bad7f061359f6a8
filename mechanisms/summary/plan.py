"""The plan of a summary: what is measured of each column, at which share of the loss, with which noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mechanisms.accounting import Loss
from mechanisms.domain import Attribute, Domain
from mechanisms.json_types import JsonObject
from mechanisms.moments.column import MeasuredColumn
from mechanisms.noise import NoiseLaw, law_from_json
from mechanisms.sensitivity import Sensitivity
from mechanisms.summary.line import LineColumn
from mechanisms.summary.running_totals import RunningTotals

NUMBER, CELLS, LINE, MOMENTS = "number", "cells", "line", "moments"


@dataclass(frozen=True)
class TablePlan:
    """One linear measurement: a table of groups and cells, of groups alone, or the sums of a column's moments.

    name: the column; empty of the numbers of the groups. kind: NUMBER, CELLS, LINE or MOMENTS. unit: what a row adds
    in all, or the length of what it adds, at most. share: of the loss, exactly. sums: integers measured of each group.
    centred: whether only departures of the cells from an even spread are measured, which say nothing of the number; of
    CELLS and LINE alone. rounded_by: what exact sums of moments are divided by, and rounded down, so that they and
    their noise fit 64 bits; 1 if not at all.
    """

    name: str
    kind: str
    unit: int
    share: Fraction
    sums: int
    sensitivity: Sensitivity
    noise: NoiseLaw
    centred: bool = False
    rounded_by: int = 1

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "share": str(self.share),
            "sums": self.sums,
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared},
            "noise": self.noise.to_json(),
            "centred": self.centred,
            "rounded_by": self.rounded_by,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> TablePlan:
        """Build a plan from what `to_json` wrote."""
        read = {
            "share": Fraction(value["share"]),
            "sensitivity": Sensitivity(**value["sensitivity"]),
            "noise": law_from_json(value["noise"]),
        }
        return cls(**{**value, **read})


@dataclass(frozen=True)
class SummaryPlan:
    """All columns of a summary, overall and by groups.

    groups: no attribute for everybody together, or the one whose cells are the groups, those for other and missing
        values included. columns: as they are declared, in the order of the table, the grouping column not among them.
    lines: those of numbers and dates, by name; all others are told as categories.
    strategies: for running totals, by the number of cells. twice: the names of columns that matter twice.
    people: the curator's estimate of the number of rows.
    total: their public number; None where it is private, or not known beforehand.
    tables: the numbers of the groups first if they are measured, then each column's (CELLS, or LINE and MOMENTS).
    """

    mechanism: str
    groups: Domain
    columns: tuple[Attribute, ...]
    lines: Mapping[str, LineColumn]
    strategies: Mapping[int, RunningTotals]
    twice: tuple[str, ...]
    people: int
    loss: Loss
    tables: tuple[TablePlan, ...]
    explanation: str
    total: int | None = None

    @cached_property
    def domain(self) -> Domain:
        """All columns that are read, as they are declared."""
        return Domain((*self.groups.attributes, *self.columns))

    @property
    def is_joint(self) -> bool:
        """Whether the number of people is measured once for all tables."""
        return any(table.centred for table in self.tables)

    @property
    def size(self) -> int:
        """How many integers are measured."""
        return self.groups.size * sum(table.sums for table in self.tables)

    @property
    def rows(self) -> int:
        """Rows of every array of estimates: each group, then everybody; one if there are no groups."""
        return self.groups.size + (self.groups.size > 1)

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "groups": self.groups.to_json(),
            "columns": [column.to_json() for column in self.columns],
            "lines": {name: line.measured.to_json() for name, line in self.lines.items()},
            "strategies": {str(cells): own.to_json() for cells, own in self.strategies.items()},
            "twice": list(self.twice),
            "people": self.people,
            "loss": self.loss.to_json(),
            "tables": [table.to_json() for table in self.tables],
            "explanation": self.explanation,
            # Known where it is public.
            **({} if self.total is None else {"total": self.total}),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> SummaryPlan:
        """Build a plan from what `to_json` wrote."""
        lines, strategies = value["lines"].items(), value["strategies"].items()
        read = {
            "groups": Domain.from_json(value["groups"]),
            "columns": Domain.from_json(value["columns"]).attributes,
            "lines": {name: LineColumn(MeasuredColumn.from_json(own)) for name, own in lines},
            "strategies": {int(cells): RunningTotals.from_json(own) for cells, own in strategies},
            "twice": tuple(value["twice"]),
            "loss": Loss.from_json(value["loss"]),
            "tables": tuple(map(TablePlan.from_json, value["tables"])),
        }
        return cls(**{**value, **read})
