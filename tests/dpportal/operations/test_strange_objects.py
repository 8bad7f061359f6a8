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
    "event trigger": (
        FUNCTION.format(of="event_trigger", does="NULL;")
        + "; CREATE EVENT TRIGGER watches ON ddl_command_end EXECUTE FUNCTION swallow()",
        "The database has the event trigger watches",
    ),
}
ADD = """
import json, sys
import django
django.setup()
from django.db import connection, transaction
from dpportal.operations import strange_objects
from dpportal.platform.triggers import guards
said = {}
for what, (statement, _words) in json.loads(sys.argv[1]).items():
    assert list(strange_objects.found()) == [], what
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(statement)
        said[what] = list(strange_objects.found())
        transaction.set_rollback(True)
with connection.cursor() as cursor:
    cursor.execute("CREATE RULE quiet AS ON UPDATE TO accounts_auditentry DO INSTEAD NOTHING")
guards["accounts"].install("default")
assert list(strange_objects.found()) == []
print(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.redis
def test_whatever_is_added_on_a_server_is_named(tmp_path, postgres_url, redis_url):
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        said = json.loads(world.run("-c", ADD, json.dumps(ADDED)))
    assert {what: words for what, (_s, words) in ADDED.items() if words not in " ".join(said[what])} == {}


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own list of triggers")
@pytest.mark.parametrize("name", ["swallow", "history_refuse_it"])
def test_a_trigger_that_somebody_added_to_the_file_is_named(name):
    assert list(strange_objects.found()) == []
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TRIGGER {name} BEFORE INSERT ON {AUDIT} WHEN NEW.action = 'looked' BEGIN SELECT RAISE(IGNORE); END"
        )
    [said] = strange_objects.found()
    assert said.startswith(f"The table {AUDIT} has the trigger {name}, which is not the portal's.")
    triggers.guards["history"].install("default")
    assert bool(list(strange_objects.found())) == (name == "swallow")  # what is called as its own goes
