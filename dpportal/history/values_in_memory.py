"""Values of fields as the database gives them back, but out of memory, where no trigger of somebody's changes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from django.db import models

from dpportal.platform.sealed import SealedField, UndecryptableValue

# By the names of fields or of their columns.
WrittenValues: TypeAlias = "Mapping[str, object]"


def values_of(fields: Collection[models.Field[Any, Any]], written: WrittenValues) -> dict[str, object]:
    """By column, of those of the fields that were written; of an expression only the database knows the value."""
    values = {
        field: written[name] for field in fields for name in (field.name, field.attname) if name in written
    }
    return {
        field.attname: _value(field, value)
        for field, value in values.items()
        if isinstance(value, models.Model) or not hasattr(value, "resolve_expression")
    }


def _value(field: models.Field[Any, Any], value: object) -> object:
    if isinstance(field, models.ForeignKey):
        key = getattr(value, field.target_field.attname) if isinstance(value, models.Model) else value
        return field.target_field.to_python(key)
    if value is None or isinstance(value, UndecryptableValue):
        return value
    if isinstance(field, models.JSONField):
        return json.loads(json.dumps(value, cls=field.encoder))
    if isinstance(field, SealedField):
        return json.loads(json.dumps(value))
    read = field.to_python(value)
    return read.astimezone(UTC) if isinstance(read, datetime) else read
