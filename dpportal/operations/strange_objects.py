"""What somebody gave the portal's tables besides: triggers, rules, policies and tables that inherit.

Each of them can make what is read or written another thing than the portal asked for, and leave no line of it: a
trigger that takes a line away with its link, a policy that hides it from one page. So whatever is not the portal's is
named. So are functions, operators, types and casts by which PostgreSQL may answer: it takes an operator of two texts of
limited length, which anybody may make in a schema of the search path, before its own of two texts. The portal has none
but functions of triggers, which no query can call. An extension's are left out: a dump names the extension, and
whoever reads it back has what the extension brings. Other schemas are a site's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.operations import portal_tables
from dpportal.platform import triggers

# Asked where the server's own operators alone are looked for: one of a site could hide itself.
PATH = """
SELECT pg_catalog.current_schemas(false), ARRAY(
  SELECT pg_catalog.to_regclass(name)::pg_catalog.oid FROM pg_catalog.unnest(%(tables)s::pg_catalog.text[]) AS name
)
"""
OWN_PATH = "SET LOCAL search_path = pg_catalog"
POSTGRESQL = """
WITH tables AS (
  SELECT * FROM pg_catalog.pg_class WHERE oid = ANY(%(tables)s::pg_catalog.oid[])
), spaces AS (
  SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ANY(%(path)s)
), types AS (
  SELECT oid FROM pg_catalog.pg_type
  WHERE typnamespace IN (SELECT oid FROM spaces UNION SELECT 'pg_catalog'::pg_catalog.regnamespace)
), objects AS (
  SELECT classid, objid FROM pg_catalog.pg_depend JOIN spaces ON spaces.oid = refobjid
  WHERE refclassid = 'pg_namespace'::pg_catalog.regclass AND classid IN (
    'pg_operator'::pg_catalog.regclass, 'pg_opclass'::pg_catalog.regclass, 'pg_opfamily'::pg_catalog.regclass,
    'pg_type'::pg_catalog.regclass, 'pg_collation'::pg_catalog.regclass, 'pg_conversion'::pg_catalog.regclass
  )
  UNION
  SELECT 'pg_proc'::pg_catalog.regclass, pg_proc.oid FROM pg_catalog.pg_proc JOIN spaces ON spaces.oid = pronamespace
  WHERE prorettype NOT IN ('trigger'::pg_catalog.regtype, 'event_trigger'::pg_catalog.regtype)
  UNION
  SELECT 'pg_cast'::pg_catalog.regclass, oid FROM pg_catalog.pg_cast
  WHERE castsource IN (SELECT oid FROM types) AND casttarget IN (SELECT oid FROM types)
  UNION
  SELECT 'pg_opclass'::pg_catalog.regclass, oid FROM pg_catalog.pg_opclass
  WHERE opcdefault AND opcintype IN (SELECT oid FROM types)
)
SELECT 'trigger', tgname, relname FROM tables JOIN pg_catalog.pg_trigger ON tgrelid = tables.oid
WHERE NOT tgisinternal AND tgname <> ALL(%(triggers)s)
UNION ALL
SELECT DISTINCT 'unchecked', '', relname FROM tables JOIN pg_catalog.pg_trigger ON tgrelid = tables.oid
WHERE tgisinternal AND tgenabled NOT IN ('O', 'A')
UNION ALL
SELECT 'rule', rulename, relname FROM tables JOIN pg_catalog.pg_rewrite ON ev_class = tables.oid
UNION ALL
SELECT 'policy', polname, relname FROM tables JOIN pg_catalog.pg_policy ON polrelid = tables.oid
UNION ALL
SELECT 'by row', '', relname FROM tables WHERE relrowsecurity OR relforcerowsecurity
UNION ALL
SELECT 'child', other.relname, tables.relname FROM tables JOIN pg_catalog.pg_inherits ON inhparent = tables.oid
JOIN pg_catalog.pg_class AS other ON other.oid = inhrelid
UNION ALL
SELECT 'parent', other.relname, tables.relname FROM tables JOIN pg_catalog.pg_inherits ON inhrelid = tables.oid
JOIN pg_catalog.pg_class AS other ON other.oid = inhparent
UNION ALL
SELECT 'no table', '', relname FROM tables WHERE relkind <> 'r' OR relpersistence <> 'p'
UNION ALL
SELECT 'elsewhere', nspname, relname FROM tables JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE relnamespace <> (SELECT relnamespace FROM tables WHERE relname = 'history_link')
UNION ALL
SELECT 'event trigger', evtname, '' FROM pg_catalog.pg_event_trigger
UNION ALL
SELECT 'object', type || ' ' || identity, ''
FROM objects, LATERAL pg_catalog.pg_identify_object(classid, objid, 0)
WHERE objid >= 16384 AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_depend AS of
  WHERE of.classid = objects.classid AND of.objid = objects.objid AND of.deptype = 'e'
)
ORDER BY 1, 3, 2
"""
SQLITE = "SELECT 'trigger', name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY tbl_name, name"
STATED: dict[str, str | Promise] = {
    "trigger": gettext_lazy("The table %(table)s has the trigger %(name)s, which is not the portal's."),
    "unchecked": gettext_lazy("Foreign keys of the table %(table)s are not checked: that was switched off."),
    "rule": gettext_lazy(
        "The table %(table)s has the rule %(name)s: it rewrites what is asked of the table."
    ),
    "policy": gettext_lazy("The table %(table)s has the row policy %(name)s: it hides or refuses rows."),
    "by row": gettext_lazy("The table %(table)s shows and takes only rows that policies let through."),
    "child": gettext_lazy(
        "The table %(name)s inherits from %(table)s: its rows are read as that table's own."
    ),
    "parent": gettext_lazy(
        "The table %(table)s inherits from %(name)s: its rows are read as that table's, too."
    ),
    "no table": gettext_lazy(
        "%(table)s is no ordinary table: what it shows may stand elsewhere, or not last."
    ),
    "elsewhere": gettext_lazy(
        "The table %(table)s is read from the schema %(name)s, where the portal's other tables are not."
    ),
    "event trigger": gettext_lazy("The database has the event trigger %(name)s, and the portal has none."),
    "object": gettext_lazy(
        "The database has the %(name)s, which is neither the portal's nor an extension's, where the portal looks for "
        "the server's own; if it is the site's, it belongs in another schema."
    ),
}


def additions() -> Iterator[str]:
    """Each of them, in a sentence."""
    own = _own_triggers()
    remedy = _(
        "What is read or written there may not be what it seems. Find out who made it so, undo that, and verify again."
    )
    for kind, name, table in _on_sqlite() if connection.vendor == "sqlite" else _on_postgresql(own):
        if kind != "trigger" or name not in own:
            yield f"{STATED[kind] % {'name': name, 'table': table}} {remedy}"


def _own_triggers() -> set[str]:
    """The names of the portal's triggers; what they do is compared where lost ones are named."""
    return {name for guard in triggers.guards.values() for name in guard.expected(connection.vendor)}


def _on_sqlite() -> list[tuple[str, str, str]]:
    """Triggers of the portal's tables, whichever capitals they were made with."""
    tables = set(portal_tables.names())
    with connection.cursor() as cursor:
        cursor.execute(SQLITE)
        return [(kind, name, table) for kind, name, table in cursor.fetchall() if table.lower() in tables]


def _on_postgresql(own: set[str]) -> list[tuple[str, str, str]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PATH, {"tables": portal_tables.names()})
        [(path, tables)] = cursor.fetchall()
        cursor.execute(OWN_PATH)
        cursor.execute(POSTGRESQL, {"path": path, "tables": tables, "triggers": sorted(own)})
        rows = list(cursor.fetchall())
        transaction.set_rollback(True)
    return rows
