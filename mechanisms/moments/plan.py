"""The plan of totals and means: which sums are measured of each column, by groups, and with which noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.json_types import JsonObject
from mechanisms.moments.basis import Basis, Bernstein, basis_from_json
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.public_number import PublicNumber
from mechanisms.moments.reported_groups import Families
from mechanisms.noise import NoiseLaw, law_from_json
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class ColumnPlan:
    """One column's sums. unit: the size that `basis` says what a row adds in.

    at_bound: what a row at a bound adds besides. sensitivity, noise: of this column's sums alone. rounded_by: what the
    exact sums of the basis are divided by, and rounded down, so that they and their noise fit 64 bits; 1 if not at all.
    """

    column: MeasuredColumn
    unit: int
    at_bound: int
    sensitivity: Sensitivity
    noise: NoiseLaw
    basis: Basis = field(default_factory=Bernstein)
    rounded_by: int = 1

    def moved(self, degree: int, unit: PrivacyUnit) -> Sensitivity:
        """How far one person moves the column's sums."""
        exact = self.basis.moved(degree, unit, self.unit, self.at_bound)
        return exact if self.rounded_by == 1 else rounded(exact, degree, unit)

    def to_json(self) -> dict[str, object]:
        return {
            "column": self.column.to_json(),
            "steps": self.column.steps,
            "unit": self.unit,
            "at_bound": self.at_bound,
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared},
            "noise": self.noise.to_json(),
            "basis": self.basis.to_json(),
            "rounded_by": self.rounded_by,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> ColumnPlan:
        return cls(
            MeasuredColumn.from_json(value["column"]),
            value["unit"],
            value["at_bound"],
            Sensitivity(**value["sensitivity"]),
            law_from_json(value["noise"]),
            basis_from_json(value.get("basis")),
            value.get("rounded_by", 1),
        )


def rounded(exact: Sensitivity, degree: int, unit: PrivacyUnit) -> Sensitivity:
    """How far one person moves sums of a basis that are rounded down, of exact ones that are moved so far.

    Each that differs does so by less than 1 more. At most 2m rows of a person, those before and those after, are in as
    many groups, each with `degree` + 2 sums: with n of them Σ(|d| + 1) = Σ|d| + n, Σ(|d| + 1)² = Σd² + 2Σ|d| + n.
    """
    sums = 2 * unit.max_rows * (degree + 2)
    return Sensitivity(exact.l1 + sums, exact.l2_squared + 2 * exact.l1 + sums)


@dataclass(frozen=True)
class MomentsPlan:
    """Totals and means of some columns by groups.

    degree: 1 for number, total and mean; 2 for the deviation, too. total: the public number of rows; None where it is
    private, or not known beforehand.
    """

    mechanism: str
    groups: Domain
    columns: tuple[ColumnPlan, ...]
    degree: int
    loss: Loss
    explanation: str
    total: int | None = None

    @property
    def public_number(self) -> PublicNumber | None:
        """What groups, with those without a value, add up to."""
        return None if self.total is None else PublicNumber(self.total, self.groups.size)

    @cached_property
    def families(self) -> Families:
        """Of the groups."""
        return Families.of(self.groups)

    @cached_property
    def domain(self) -> Domain:
        """All columns that are read, as they are declared."""
        return Domain((*self.groups.attributes, *(c.column.attribute for c in self.columns)))

    @property
    def size(self) -> int:
        """How many integers are measured."""
        return self.groups.size * len(self.columns) * self.sums

    @property
    def sums(self) -> int:
        """Of a column and group: the sums of its basis, those at the lower and those at the upper bound."""
        return self.degree + 4

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "groups": self.groups.to_json(),
            "columns": [c.to_json() for c in self.columns],
            "degree": self.degree,
            "loss": self.loss.to_json(),
            "explanation": self.explanation,
            # Known where it is public.
            **({} if self.total is None else {"total": self.total}),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> MomentsPlan:
        """Build a plan from what `to_json` wrote."""
        read = {
            "groups": Domain.from_json(value["groups"]),
            "columns": tuple(map(ColumnPlan.from_json, value["columns"])),
            "loss": Loss.from_json(value["loss"]),
        }
        return cls(**{**value, **read})
