"""How well a table fits its declarations: true numbers, for the curator only, before anything is spent."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute

MISSING, UNREADABLE, BELOW, ABOVE, UNDECLARED = "missing", "unreadable", "below", "above", "undeclared"


@dataclass(frozen=True)
class FrequentMisfit:
    """A text that does not fit, why (a reason above), and in how many rows."""

    text: str
    reason: str
    rows: int

    @property
    def is_unreadable(self) -> bool:
        """Whether it is no number, date or yes/no word."""
        return self.reason == UNREADABLE

    @property
    def is_below(self) -> bool:
        """Whether it is less than the lower bound."""
        return self.reason == BELOW

    @property
    def is_above(self) -> bool:
        """Whether it is more than the upper bound."""
        return self.reason == ABOVE


@dataclass(frozen=True)
class ColumnFit:
    """Rows of one column by what does not fit.

    missing: no value. unreadable: no number, date or yes/no word. below, above: the bounds. undeclared: no declared
    category. left_out: rows that the column leaves out of a count. unplaced: rows whose text, or lack of one, has no
    cell that was declared for it: all of those but the missing that have a cell of their own.
    """

    column: str
    missing: int
    unreadable: int
    below: int
    above: int
    undeclared: int
    left_out: int
    unplaced: int
    frequent: tuple[FrequentMisfit, ...]

    @classmethod
    def from_json(cls, value: Json) -> ColumnFit:
        return cls(**{**value, "frequent": tuple(FrequentMisfit(**misfit) for misfit in value["frequent"])})


@dataclass(frozen=True)
class PersonFit:
    """persons: how many there are. without: rows that are left out since they have no identifier. beyond: rows that the
    limit leaves out. Both of those that no closed column leaves out."""

    persons: int
    without: int
    max_rows: int
    beyond: int


@dataclass(frozen=True)
class TableFit:
    """rows: of the table. left_out: rows that at least one of the columns leaves out."""

    rows: int
    left_out: int
    columns: tuple[ColumnFit, ...]
    persons: PersonFit | None

    @property
    def counted(self) -> int:
        """Rows that a release of all the columns would count."""
        out = self.persons.beyond + self.persons.without if self.persons else 0
        return self.rows - self.left_out - out

    @property
    def has_undeclared(self) -> bool:
        """Whether any column has categories that nobody declared."""
        return any(column.undeclared for column in self.columns)

    @property
    def has_unreadable(self) -> bool:
        """Whether any column has a text that is no number, date or yes/no word."""
        return any(column.unreadable for column in self.columns)

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Json) -> TableFit:
        persons = PersonFit(**value["persons"]) if value["persons"] else None
        return cls(
            **{**value, "columns": tuple(map(ColumnFit.from_json, value["columns"])), "persons": persons}
        )


def column_fit(
    attribute: Attribute, counts: dict[str, int], frequent: tuple[FrequentMisfit, ...]
) -> ColumnFit:
    """What numbers of rows by reason say of a column."""
    missing, unreadable, below, above, undeclared = (
        counts.get(reason, 0) for reason in (MISSING, UNREADABLE, BELOW, ABOVE, UNDECLARED)
    )
    nowhere = missing + unreadable if attribute.missing is None else 0
    left_out = nowhere + (undeclared if attribute.other is None else 0)
    homeless = 0 if attribute.missing_cell else missing
    return ColumnFit(
        attribute.name,
        missing,
        unreadable,
        below,
        above,
        undeclared,
        left_out,
        homeless + unreadable + below + above + undeclared,
        frequent,
    )
