"""Sealed values of the database that cannot be opened: nothing the portal does afterwards would say so."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from dpportal.operations.reseal import sealed_fields
from dpportal.platform.sealed import SealedField, UndecryptableValue

# So many rows are read at once.
ROWS = 500


def unopened() -> Iterator[str]:
    """A sentence for each column that has any, with the first row."""
    for field in sealed_fields():
        if keys := _unopened_in(field):
            text = _(
                "%(count)d values of %(column)s cannot be opened, the first that of the row %(key)s: they were changed "
                "past the portal, or the key that sealed them is not there."
            )
            yield text % {"count": len(keys), "column": field.name_of_seal, "key": keys[0]}


def _unopened_in(field: SealedField) -> list[object]:
    rows = field.model._base_manager.order_by("pk").values_list("pk", field.attname)
    return [key for key, value in rows.iterator(ROWS) if isinstance(value, UndecryptableValue)]
