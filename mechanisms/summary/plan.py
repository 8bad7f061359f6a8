"""The plan of a summary: what is measured of each column, at which share of the loss, with which noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mechanisms.accounting import Loss
from mechanisms.domain import Attribute, Domain
from mechanisms.json_types import JsonObject
from mechanisms.noise import NoiseLaw
from mechanisms.sensitivity import Sensitivity
from mechanisms.summary.line import LineColumn


@dataclass(frozen=True)
class TablePlan:
    """One linear measurement: a table of groups and cells, of groups alone, or the two sums of a column's moments.

    name: the column; empty of the numbers of the groups. kind: "number", "cells", "line" or "moments".
    unit: what a row adds at most. share: of the loss, exactly. sums: integers that are measured of each group.
    weights: of a line's tree, for each size of its blocks; empty of other tables.
    """

    name: str
    kind: str
    unit: int
    share: Fraction
    sums: int
    sensitivity: Sensitivity
    noise: NoiseLaw
    weights: tuple[int, ...] = ()

    def to_json(self) -> dict[str, object]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: JsonObject) -> TablePlan:
        """Build a plan from what `to_json` wrote."""
        raise NotImplementedError


@dataclass(frozen=True)
class SummaryPlan:
    """All columns of a summary, overall and by groups.

    groups: no attribute for everybody together, or the one whose cells are the groups, those for other and missing
        values included. columns: as they are declared, in the order of the table, the grouping column not among them.
    twice: the names of those that matter twice. people: the curator's estimate of the number of rows.
    tables: the numbers of the groups first, then each column's ("cells", or "line" and "moments").
    """

    mechanism: str
    groups: Domain
    columns: tuple[Attribute, ...]
    twice: frozenset[str]
    people: int
    loss: Loss
    tables: tuple[TablePlan, ...]
    explanation: str

    @cached_property
    def domain(self) -> Domain:
        """All columns that are read, as they are declared."""
        return Domain((*self.groups.attributes, *self.columns))

    @property
    def size(self) -> int:
        """How many integers are measured."""
        return self.groups.size * sum(table.sums for table in self.tables)

    @property
    def rows(self) -> int:
        """Rows of every array of estimates: each group, then everybody; one if there are no groups."""
        return self.groups.size + (self.groups.size > 1)

    @cached_property
    def lines(self) -> dict[str, LineColumn]:
        """The columns of numbers and dates, by name; all others are told as categories."""
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: JsonObject) -> SummaryPlan:
        """Build a plan from what `to_json` wrote."""
        raise NotImplementedError
