"""What somebody gave the portal's tables besides: triggers, rules, policies and tables that inherit.

Each of them can make what is read or written another thing than the portal asked for, and leave no line of it: a
trigger that takes a line away with its link, a policy that hides it from one page. So whatever is not the portal's is
named.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.operations import portal_tables
from dpportal.platform import triggers

# Whatever a search path puts before them, these are the server's own lists.
POSTGRESQL = """
WITH tables AS (
  SELECT * FROM pg_catalog.pg_class
  WHERE relnamespace = pg_catalog.current_schema()::pg_catalog.regnamespace AND relname = ANY(%(tables)s)
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
SELECT 'child', inhrelid::pg_catalog.regclass::text, relname
FROM tables JOIN pg_catalog.pg_inherits ON inhparent = tables.oid
UNION ALL
SELECT 'parent', inhparent::pg_catalog.regclass::text, relname
FROM tables JOIN pg_catalog.pg_inherits ON inhrelid = tables.oid
UNION ALL
SELECT 'no table', '', relname FROM tables WHERE relkind <> 'r' OR relpersistence <> 'p'
UNION ALL
SELECT 'event trigger', evtname, '' FROM pg_catalog.pg_event_trigger
ORDER BY 1, 3, 2
"""
SQLITE = """
SELECT 'trigger', name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY tbl_name, name
"""
SAID: dict[str, str | Promise] = {
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
    "event trigger": gettext_lazy("The database has the event trigger %(name)s, and the portal has none."),
}


def found() -> Iterator[str]:
    """Each of them, in a sentence."""
    own = _own()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(SQLITE)
        else:
            cursor.execute(POSTGRESQL, {"tables": portal_tables.names(), "triggers": sorted(own)})
        rows = cursor.fetchall()
    remedy = _(
        "What is read or written there may not be what it seems. Find out who made it so, undo that, and verify again."
    )
    for kind, name, table in rows:
        if kind != "trigger" or name not in own:
            yield f"{SAID[kind] % {'name': name, 'table': table}} {remedy}"


def _own() -> set[str]:
    """The names of the portal's triggers; what they do is compared where lost ones are named."""
    return {name for guard in triggers.guards.values() for name in guard.expected(connection.vendor)}
