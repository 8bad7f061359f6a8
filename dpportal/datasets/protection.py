"""Who is protected: what two losses must agree in to be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _, gettext_noop

from dpportal.platform.listed_names import joint
from mechanisms.accounting import Neighbours

# As the page calls them on which a curator says who is protected.
HOW_NEIGHBOURS_DIFFER = {
    Neighbours.ADD_REMOVE.value: gettext_noop("one person, added or removed"),
    Neighbours.REPLACE_ONE.value: gettext_noop("one person, replaced by another"),
}


class Declared(Protocol):
    """A version of a domain, or an account that was opened for one."""

    neighbours: str
    unit_column: str
    ignore_case: bool


@dataclass(frozen=True)
class Protection:
    """Which tables are neighbours, and what makes rows one person's.

    Losses are added for the same protection only: ε for one row and ε for a person are not 2ε for anybody. How many
    rows of a person count at most is not part of it; each release is charged by its own number.
    unit_column: names the person; empty where each person has one row. ignore_case: in it.
    """

    neighbours: str = Neighbours.ADD_REMOVE.value
    unit_column: str = ""
    ignore_case: bool = False

    @classmethod
    def of(cls, declared: Declared | None) -> Protection:
        """The protection that a version of a domain declares; if there is none yet, that of a new one."""
        if declared is None:
            return cls()
        # Capitals of no column cannot count, so "each row" is one protection and has one account.
        ignore_case = declared.ignore_case and bool(declared.unit_column)
        return cls(declared.neighbours, declared.unit_column, ignore_case)

    @property
    def hides_total(self) -> bool:
        """Whether neighbours can have different numbers of rows: then how many there are must stay private."""
        return self.neighbours == Neighbours.ADD_REMOVE or bool(self.unit_column)

    def __str__(self) -> str:
        """The protection in words, for pages and for an administrator who grants."""
        return self.in_words(_("each row, as one person"))

    def in_words(self, anybody: str) -> str:
        """anybody: who it is where no column names them."""
        if not self.unit_column:
            who = anybody
        elif self.ignore_case:
            who = _("each person in “%(column)s”, whatever the capitals") % {"column": self.unit_column}
        else:
            who = _("each person in “%(column)s”") % {"column": self.unit_column}
        how = _("added or removed") if self.neighbours == Neighbours.ADD_REMOVE else _("replaced by another")
        return f"{who}{joint(',')}{how}"
