"""How many rows are counted, where everybody may know it."""

from __future__ import annotations

from dpportal.releases.models import Release
from mechanisms.accounting import PrivacyUnit


def public_rows(draft: Release, unit: PrivacyUnit) -> int | None:
    """The number of the table's rows; None where it is private, or not known before they are counted."""
    rows = draft.dataset.rows
    return rows if unit.total_public and isinstance(rows, int) else None
