"""Triggers, rules, policies and tables that are not the portal's are named, on both databases."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from dpportal.operations import strange_objects
from dpportal.platform import triggers
from tests.dpportal.world import with_servers

AUDIT, PEOPLE = "accounts_auditentry", "accounts_user"
FUNCTION = "CREATE FUNCTION swallow() RETURNS {of} LANGUAGE plpgsql AS $$ BEGIN {does} END $$"
SAME = "CREATE FUNCTION same(varchar, varchar) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$"
MADE = FUNCTION.format(of="trigger", does="RETURN NULL;")
ADDED = {
    "trigger": (
        f"{MADE}; CREATE TRIGGER swallow AFTER INSERT ON {AUDIT} FOR EACH ROW EXECUTE FUNCTION swallow()",
        f"The table {AUDIT} has the trigger swallow, which is not the portal's.",
    ),
    "trigger with a name like the portal's": (
        f"{MADE}; CREATE TRIGGER accounts_refuse_it BEFORE INSERT ON {PEOPLE} FOR EACH ROW EXECUTE FUNCTION swallow()",
        f"The table {PEOPLE} has the trigger accounts_refuse_it",
    ),
    "foreign keys unchecked": (
        f"ALTER TABLE {AUDIT} DISABLE TRIGGER ALL",
        f"Foreign keys of the table {AUDIT} are not checked",
    ),
    "rule": (
        f'CREATE RULE "so ""quiet" AS ON UPDATE TO {PEOPLE} DO INSTEAD NOTHING',
        f'The table {PEOPLE} has the rule so "quiet',
    ),
    "policy": (
        f"CREATE POLICY hides ON {AUDIT} USING (false)",
        f"The table {AUDIT} has the row policy hides",
    ),
    "policies for all": (
        f"ALTER TABLE {AUDIT} FORCE ROW LEVEL SECURITY",
        f"The table {AUDIT} shows and takes only rows that policies let through",
    ),
    "child": (f"CREATE TABLE heir () INHERITS ({PEOPLE})", f"The table heir inherits from {PEOPLE}"),
    "parent": (
        f"CREATE TABLE forebear (detail text NOT NULL); ALTER TABLE {AUDIT} INHERIT forebear",
        f"The table {AUDIT} inherits from forebear",
    ),
    "view": (
        f"ALTER TABLE {AUDIT} RENAME TO kept; CREATE VIEW {AUDIT} AS SELECT * FROM kept WHERE action <> 'looked'",
        f"{AUDIT} is no ordinary table",
    ),
    "a table before the portal's": (
        f"CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE {AUDIT} (LIKE public.{AUDIT} INCLUDING ALL)",
        f"The table {AUDIT} is read from the schema ",
    ),
    "event trigger": (
        FUNCTION.format(of="event_trigger", does="NULL;")
        + "; CREATE EVENT TRIGGER watches ON ddl_command_end EXECUTE FUNCTION swallow()",
        "The database has the event trigger watches",
    ),
    "function": (
        "CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS $$ SELECT $1::text $$",
        "The database has the function public.lower(character varying)",
    ),
    "aggregate": (
        "CREATE AGGREGATE max(varchar) (SFUNC = pg_catalog.text_larger, STYPE = text)",
        "The database has the aggregate public.max(character varying)",
    ),
    "operator": (
        f"{SAME}; CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = same)",
        "The database has the operator public.=(character varying,character varying)",
    ),
    "operator that hides itself": (
        f"{SAME}; {SAME.replace('varchar', 'oid')}; SET LOCAL search_path = public, pg_catalog; "
        "CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, FUNCTION = same)",
        "The database has the operator public.=(pg_catalog.oid,pg_catalog.oid)",
    ),
    "cast": (
        "CREATE CAST (integer AS text) WITH INOUT AS IMPLICIT",
        "The database has the cast (integer AS pg_catalog.text)",
    ),
    "type": ("CREATE DOMAIN uuid AS text", "The database has the type public.uuid"),
    "order of a site's own schema": (
        "CREATE SCHEMA aside; CREATE OPERATOR CLASS aside.mixed DEFAULT FOR TYPE varchar USING hash AS "
        "OPERATOR 1 =(text, text), FUNCTION 1 hashtext(text)",
        "The database has the operator class aside.mixed USING hash",
    ),
}
# What a site may well have.
HONEST = [
    *(
        f"CREATE EXTENSION {name}"
        for name in ("pg_stat_statements", "pg_trgm", "citext", "btree_gist", "intarray")
    ),
    "CREATE SCHEMA reports",
    "CREATE SCHEMA AUTHORIZATION CURRENT_USER",
    "CREATE TYPE reports.colour AS ENUM ('red')",
    "CREATE FUNCTION reports.paint(reports.colour) RETURNS text LANGUAGE sql AS $$ SELECT 'red' $$",
    "CREATE CAST (reports.colour AS text) WITH FUNCTION reports.paint(reports.colour)",
    "CREATE OPERATOR reports.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.texteq)",
    "CREATE TABLE notes (id serial PRIMARY KEY, detail text UNIQUE)",
    "CREATE VIEW latest AS SELECT * FROM notes",
    FUNCTION.format(of="trigger", does="RETURN NEW;"),
    "CREATE TRIGGER own BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION swallow()",
]
ADD = """
import json, sys
import django
django.setup()
from django.db import connection, transaction
from dpportal.operations import strange_objects
from dpportal.platform.triggers import guards
said = {}
for what, (statement, _words) in json.loads(sys.argv[1]).items():
    assert list(strange_objects.additions()) == [], what
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(statement)
        said[what] = list(strange_objects.additions())
        transaction.set_rollback(True)
with transaction.atomic():
    with connection.cursor() as cursor:
        for statement in json.loads(sys.argv[2]):
            cursor.execute(statement)
    said["honest"] = list(strange_objects.additions())
    transaction.set_rollback(True)
with connection.cursor() as cursor:
    cursor.execute("CREATE RULE quiet AS ON UPDATE TO accounts_auditentry DO INSTEAD NOTHING")
guards["accounts"].install("default")
assert list(strange_objects.additions()) == []
print(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.redis
def test_whatever_is_added_on_a_server_is_named(tmp_path, postgres_url, redis_url):
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        said = json.loads(world.run("-c", ADD, json.dumps(ADDED), json.dumps(HONEST)))
    assert said.pop("honest") == []
    assert {what: words for what, (_s, words) in ADDED.items() if words not in " ".join(said[what])} == {}


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own list of triggers")
@pytest.mark.parametrize("name", ["swallow", "history_refuse_it"])
@pytest.mark.parametrize("table", [AUDIT, AUDIT.upper()])
def test_a_trigger_that_somebody_added_to_the_file_is_named(name, table):
    assert list(strange_objects.additions()) == []
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TRIGGER {name} BEFORE INSERT ON {table} WHEN NEW.action = 'looked' BEGIN SELECT RAISE(IGNORE); END"
        )
    [said] = strange_objects.additions()
    assert said.startswith(f"The table {table} has the trigger {name}, which is not the portal's.")
    triggers.guards["history"].install("default")
    assert bool(list(strange_objects.additions())) == (name == "swallow")  # what is called as its own goes


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own list of triggers")
def test_a_site_s_own_table_may_have_triggers():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE notes (detail text)")
        cursor.execute("CREATE TRIGGER own BEFORE INSERT ON notes BEGIN SELECT 1; END")
    assert list(strange_objects.additions()) == []
