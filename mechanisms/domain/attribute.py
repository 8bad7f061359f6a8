"""What every declared column has: cells in an order, labels, and a place for what does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mechanisms.refusal import RefusalError

MISSING_LABEL = "Missing"


class DomainError(RefusalError):
    """A declaration that cannot be a domain; the message says what to change and names no data."""


@dataclass(frozen=True)
class Attribute:
    """A column's cells, in order.

    missing_cell: whether missing values have a cell of their own, the last.
    closed: whether there is no cell for what does not fit. misfits_to: of a closed column, the declared cell that
        takes what does not fit; None leaves such rows out of the count.
    source: the column of the table that is read, where that is not called like this one: a coarser column is a second
        declaration of the same values.
    title: what readers see in place of the name, such as "Year of birth" of birth_year; files keep the name.
    """

    name: str
    missing_cell: bool = False
    closed: bool = field(default=False, kw_only=True)
    misfits_to: int | None = field(default=None, kw_only=True)
    source: str = field(default="", kw_only=True)
    title: str = field(default="", kw_only=True)
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.misfits_to is not None:
            fits = self.closed and 0 <= self.misfits_to < self.regular_size
            self._require(fits, "only a closed column sends misfits to one of its values.")

    @property
    def column(self) -> str:
        """The column of the table that is read."""
        return self.source or self.name

    @property
    def shown_name(self) -> str:
        """What readers see on pages and charts, and in sentences: the title, or the name with blanks."""
        return self.title or self.name.replace("_", " ").strip() or self.name

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
    def takes_unread(self) -> int | None:
        """The declared cell in which what is missing or unreadable counts unseen; None where none does."""
        return None if self.missing_cell else self.other

    @property
    def leaves_out(self) -> bool:
        """Whether a row can be left out of the count for what it says here."""
        return self.missing is None

    def labels(self) -> list[str]:
        """One label for each cell, in cell order."""
        return [*self.regular_labels(), *([MISSING_LABEL] if self.missing_cell else [])]

    @property
    def has_codes(self) -> bool:
        """Whether each cell's value is a code, which a word explains."""
        return False

    def codes(self) -> list[str]:
        """The value of each cell as the table writes it, in cell order; what has none is named by its label."""
        return self.labels()

    def to_json(self) -> dict[str, object]:
        closed = {"closed": True, "misfits_to": self.misfits_to} if self.closed else {}
        source = {"source": self.source} if self.source else {}
        title = {"title": self.title} if self.title else {}
        return {
            "kind": self.kind,
            "name": self.name,
            "missing_cell": self.missing_cell,
            **closed,
            **source,
            **title,
        }

    def _require(self, holds: bool, otherwise: str, **values: object) -> None:
        """otherwise: a template of `refusal`, which says what to change; values: what it names."""
        if not holds:
            raise DomainError("Column {column}: " + otherwise, column=self.name, **values)
