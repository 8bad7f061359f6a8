"""Whose rows belong together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Persons:
    """Whose rows belong together, and how many of each person's count.

    column: of the identifier, compared without the spaces around it and composed (`reference.person_of`); rows without
    one are one person's.
    """

    column: str
    max_rows: int = 1
    ignore_case: bool = False
