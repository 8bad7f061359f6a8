"""Values that SQLite's file has in another form than the portal writes them.

SQLite takes any value in any column, and compares identifiers and times as texts. What is written in another form reads
as one value and is found as another: a second row can have an identifier that is there, a time that is over can pass
for one to come, and a 2 is yes in a query and no in a program. PostgreSQL has types for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from django.db import connection, models
from django.utils.translation import gettext as _

from dpportal.operations import portal_tables

AnyField: TypeAlias = "models.Field[Any, Any]"
_TEXT = "typeof({0}) = 'text'"
# For SQLite a text's length ends where a zero byte is.
_BYTES = "length(CAST({0} AS BLOB))"
# Days and times as SQLite writes them once it has counted with them: there is no 30th of February.
_DAY = "{0} IS date({0}, '+0 days')"
_SECOND = "substr({0}, 1, 19) IS datetime(substr({0}, 1, 19), '+0 days')"
# Of a second: none, as the database's clock writes it, or as programs do.
_CLOCKS = f"{_BYTES} = 23 AND {{0}} GLOB '*.{3 * '[0-9]'}'"
_PROGRAMS = f"{_BYTES} = 26 AND {{0}} GLOB '*.{6 * '[0-9]'}'"
_FRACTION = f"({_BYTES} = 19 OR {_CLOCKS} OR {_PROGRAMS})"
# By a field's type, what its values are in SQL: {0} is the column.
FORMS: dict[type[AnyField], str] = {
    models.UUIDField: f"{_TEXT} AND {_BYTES} = 32 AND {{0}} NOT GLOB '*[^0-9a-f]*'",
    models.DateTimeField: f"{_TEXT} AND {_SECOND} AND {_FRACTION}",
    models.DateField: f"{_TEXT} AND {_DAY}",
    models.BooleanField: "typeof({0}) = 'integer' AND {0} IN (0, 1)",
    models.IntegerField: "typeof({0}) = 'integer'",
    models.DecimalField: "typeof({0}) IN ('integer', 'real')",
    models.FloatField: "typeof({0}) IN ('integer', 'real')",
    models.BinaryField: "typeof({0}) = 'blob'",
    models.CharField: _TEXT,
    models.TextField: _TEXT,
    models.JSONField: _TEXT,
    models.GenericIPAddressField: _TEXT,
}


def strange() -> Iterator[str]:
    """The columns of the portal's tables that hold such values, with their number; nothing on PostgreSQL."""
    for model in portal_tables.declared() if connection.vendor == "sqlite" else ():
        for field in model._meta.concrete_fields:
            table, column = model._meta.db_table, str(field.column)
            number = _number(table, column, _form(field)) + _number_of_json(table, field)
            if number:
                text = _(
                    "%(number)d values in %(column)s of the table %(table)s are in a form that the portal does not "
                    "write: they were written past it."
                )
                yield text % {"number": number, "column": column, "table": table}


def _form(field: AnyField) -> str:
    """What a column's values are; 1 where that is not known of its type."""
    referred = getattr(field, "target_field", field)
    form = next((form for kind, form in FORMS.items() if isinstance(referred, kind)), "1")
    return form.format(connection.ops.quote_name(str(field.column)))


def _number(table: str, column: str, form: str) -> int:
    """How many values of a column are in another form."""
    quote = connection.ops.quote_name
    wrong = f"{quote(column)} IS NOT NULL AND NOT ({form})"
    query = f"SELECT count(*) FROM {quote(table)} WHERE {wrong}"  # noqa: S608 (names of our own models)
    with connection.cursor() as cursor:
        cursor.execute(query)
        [number] = cursor.fetchone()
    return int(number)


def _number_of_json(table: str, field: AnyField) -> int:
    """How many texts of a column of JSON read as what the portal would write otherwise, such as a name that is twice.

    SQLite's own functions take the first of two values of a name, Python takes the last.
    """
    if not isinstance(field, models.JSONField):
        return 0
    quote = connection.ops.quote_name
    column = quote(str(field.column))
    query = f"SELECT {column} FROM {quote(table)} WHERE {_TEXT.format(column)}"  # noqa: S608 (as above)
    with connection.cursor() as cursor:
        cursor.execute(query)
        return sum(not _is_written(text, field) for (text,) in cursor)


def _is_written(text: str, field: models.JSONField) -> bool:
    """Whether a text is what Django writes of the value that it reads as."""
    try:
        value = json.loads(text, cls=field.decoder)
    except ValueError:
        return False
    return bool(text == json.dumps(value, cls=field.encoder))
