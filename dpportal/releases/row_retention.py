"""Which of a table's rows a release counts: what is public of it, and how many, for the curator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from dpportal.datasets.unread_values import unread_cells, unread_text
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release

# Where a stored comparison says how many rows were counted.
ROWS_COUNTED = "rows_counted"


@dataclass(frozen=True)
class RowRetention:
    """What decides whether a row counts; declared, so public.

    person_column: names the person, of whom at most max_rows rows count; empty where each person has one row.
    closed: the released columns that leave rows out, as readers see them. unread: those of which what is missing or
    unreadable counts in a declared cell, in the same way, with the cell.
    """

    person_column: str
    max_rows: int
    closed: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, release: Release) -> RowRetention:
        # Columns of which sums are made tell apart who has no value.
        measured = release.parameters.get("measured", ())
        unread = unread_cells(a for a in release.leaving_attributes if a.name not in measured)
        return cls(release.person_column, release.declaration.max_rows, release.counted_rows.closed, unread)

    @property
    def unread_text(self) -> str:
        """Where such values count, of the first columns."""
        return unread_text(self.unread)


@lru_cache(maxsize=1024)
def confirmed_retention(release_id: UUID) -> RowRetention:
    """Of a release that was confirmed, whose declaration stays: a reader's page does not read hundreds of columns."""
    return RowRetention.of(Release.objects.get(pk=release_id))


def rows_counted(comparison: Json) -> int | None:
    """How many rows were counted, a true number; None where the counts of the product do not tell.

    comparison: as stored for the curator.
    """
    rows: int | None = comparison[ROWS_COUNTED]
    return rows
