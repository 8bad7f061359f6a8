"""Rows that have another one's key: where a table lost its primary key, or another table inherits from it.

Whoever reads a row by its key gets one of the two, and sums count both. So a second row could pass for what the chain,
which knows lines by their keys, says of the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count
from django.utils.translation import gettext as _

from dpportal.operations import portal_tables

# Of each table; a key that is a text, such as a session's, is not for a report.
NAMED = 10


def repeated_keys() -> Iterator[str]:
    """Keys of any of the portal's tables that more than one row has."""
    for model in portal_tables.declared():
        rows = model._base_manager.order_by().values("pk").annotate(copies=Count("pk")).filter(copies__gt=1)
        for row in rows.order_by("pk")[:NAMED]:
            key = "" if isinstance(row["pk"], str) else f" {row['pk']}"
            text = _(
                "The table %(table)s has %(copies)d rows with the same key%(key)s: all but one were written past the "
                "portal."
            )
            yield text % {"table": model._meta.db_table, "copies": row["copies"], "key": key}
