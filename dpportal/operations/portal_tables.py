"""Whether the portal's tables are what its models say: columns, keys and constraints, as the database keeps them.

The models' tables are made a second time where nobody sees them, and the database is asked the same of both: no
expression is compared by guess. On PostgreSQL that is a schema of temporary tables, and all of it is rolled back; on
SQLite a database in memory. Names of constraints and plain indexes are left out: they keep nobody from anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.utils.translation import gettext as _

from dpportal.operations import sqlite_clauses

# What a database says of each table: a default, an expression of an index or a constraint can call a function. Django's
# migrations number the rows of a set with other integers than its models say.
PartsOfTables: TypeAlias = "dict[str, set[str]]"
POSTGRESQL = """
WITH tables AS (
  SELECT oid, relname FROM pg_catalog.pg_class
  WHERE relnamespace = %(schema)s AND relname = ANY(%(tables)s)
)
SELECT relname, pg_catalog.concat_ws(' ', pg_catalog.quote_ident(attname),
  CASE WHEN attidentity = '' THEN pg_catalog.format_type(atttypid, atttypmod) END,
  nullif(attcollation, 0)::pg_catalog.regcollation,
  CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_catalog.pg_get_expr(adbin, adrelid),
  'IDENTITY ' || nullif(attidentity::text, ''), 'GENERATED ' || nullif(attgenerated::text, ''))
FROM tables JOIN pg_catalog.pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
UNION ALL
SELECT relname, pg_catalog.pg_get_constraintdef(pg_constraint.oid, true)
FROM tables JOIN pg_catalog.pg_constraint ON conrelid = tables.oid AND contype IN ('p', 'u', 'c', 'f', 'x')
UNION ALL
SELECT relname, pg_catalog.concat_ws(' ', CASE WHEN indisunique THEN 'UNIQUE' END, 'INDEX',
  pg_catalog.substr(definition, pg_catalog.strpos(definition, ' USING ') + 1),
  CASE WHEN NOT (indisvalid AND indisready AND indislive) THEN 'OUT OF USE' END)
FROM tables JOIN pg_catalog.pg_index ON indrelid = tables.oid,
LATERAL pg_catalog.pg_get_indexdef(indexrelid, 0, true) AS definition
WHERE indisunique OR indexprs IS NOT NULL OR indpred IS NOT NULL
"""
# Where the tables are found; a site may have schemas of its own before it in the search path.
OWN_SCHEMA = """(
  SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('history_link')::pg_catalog.oid
)"""
# A condition that was read back from a dump has the casts of its texts in other places, so those of quoted texts and
# of columns of texts are left out; one of a number compares otherwise.
_CASTS = r"((?:::(?:character varying|text)(?:\[\])?)+)"
_CAST = re.compile(rf"""('(?:[^']|'')*'|"(?:[^"]|"")*"|\b\w+\b){_CASTS}""")
_CAST_OF_LIST = re.compile(rf"(ARRAY\[(?:'(?:[^']|'')*'(?:, )?)+\]){_CASTS}")
_COLUMN_OF_TEXT = re.compile(r"""("(?:[^"]|"")*"|\w+) (?:character varying|text)\b""")
SQLITE = """
SELECT tbl_name, type, sql FROM sqlite_master
WHERE type = 'table' OR (type = 'index' AND sql IS NOT NULL)
"""


def declared() -> list[type[models.Model]]:
    """The models that have a table, those that Django makes of sets among them."""
    of_rooms = [
        m for m in apps.get_models(include_auto_created=True) if m._meta.managed and not m._meta.proxy
    ]
    return [*of_rooms, MigrationRecorder(connection).Migration]


def names() -> list[str]:
    """Of the portal's tables."""
    return sorted(model._meta.db_table for model in declared())


def differences() -> Iterator[str]:
    """What a table lacks, and what it has besides."""
    there = _parts(connection, OWN_SCHEMA)
    try:
        declared = _declared_parts()
    except DatabaseError as fault:
        text = _(
            "The portal's tables could not be made a second time, to compare the two (%(fault)s). On PostgreSQL the "
            "portal's account needs TEMPORARY on its database."
        )
        yield text % {"fault": type(fault).__name__}
        return
    for table in names():
        yield from _difference(table, declared[table] - there[table], there[table] - declared[table])


def _difference(table: str, lacking: set[str], more: set[str]) -> Iterator[str]:
    if lacking:
        text = _(
            "The table %(table)s lacks what this version's models say of it, so rows may be there that it would have "
            "refused: %(parts)s."
        )
        yield text % {"table": table, "parts": "; ".join(sorted(lacking))}
    if more:
        text = _("The table %(table)s has what this version's models do not say of it: %(parts)s.")
        yield text % {"table": table, "parts": "; ".join(sorted(more))}


def _declared_parts() -> PartsOfTables:
    """What the database says of tables as the models have them."""
    if connection.vendor == "sqlite":
        memory = type(connections[DEFAULT_DB_ALIAS])(
            {**connection.settings_dict, "NAME": ":memory:"}, "declared"
        )
        try:
            _make(memory)
            return _parts(memory)
        finally:
            memory.connection.close()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path = pg_temp")
        _make(connection)
        parts = _parts(connection, "pg_catalog.pg_my_temp_schema()")
        transaction.set_rollback(True)
    return parts


def _make(wrapper: BaseDatabaseWrapper) -> None:
    """Tables of sets come with those that have them."""
    with wrapper.schema_editor(atomic=False) as editor:
        for model in declared():
            if not model._meta.auto_created:
                editor.create_model(model)


def _parts(wrapper: BaseDatabaseWrapper, schema: str = "") -> PartsOfTables:
    """schema: an expression for its key; SQLite has one."""
    with wrapper.cursor() as cursor:
        if wrapper.vendor == "sqlite":
            cursor.execute(SQLITE)
            return _read(cursor.fetchall())
        cursor.execute(f"SELECT {schema}")
        [(key,)] = cursor.fetchall()
        cursor.execute(POSTGRESQL, {"schema": key, "tables": names()})
        parts_of: PartsOfTables = defaultdict(set)
        for table, part in cursor.fetchall():
            parts_of[table].add(part)
    return defaultdict(set, {table: set(_without_casts(parts)) for table, parts in parts_of.items()})


def _without_casts(parts: set[str]) -> Iterator[str]:
    """The parts of a table without casts of texts to texts."""
    of_text = {column[1] for column in map(_COLUMN_OF_TEXT.match, parts) if column}

    def uncast(match: re.Match[str]) -> str:
        return match[1] if match[1].startswith("'") or match[1] in of_text else match[0]

    return (_CAST_OF_LIST.sub(r"\1", _CAST.sub(uncast, part)) for part in parts)


def _read(rows: list[tuple[str, str, str]]) -> PartsOfTables:
    """What SQLite's own statements say."""
    parts: PartsOfTables = defaultdict(set)
    for table, kind, statement in rows:
        if kind == "table":
            parts[table].update(sqlite_clauses.of_table(statement))
        elif part := sqlite_clauses.of_index(statement):
            parts[table].add(part)
    return parts
