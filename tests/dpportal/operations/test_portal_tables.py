"""Tables that lack a constraint, or have what no model says, are named; those that `migrate` makes are not."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from dpportal.operations import portal_tables, sqlite_clauses
from tests.dpportal.world import with_servers

LINES, APPROVALS, LINKS = "budgets_ledgerentry", "approvals_approval", "history_link"


@pytest.mark.django_db
def test_the_tables_of_this_version_agree():
    assert list(portal_tables.differences()) == []


def rewritten(table: str, text: str, other: str = "") -> str:
    return f"UPDATE sqlite_master SET sql = replace(sql, '{text}', '{other}') WHERE name = '{table}'"


# By what is lost or added: the table, the statement, and a part that is named.
LOST = {
    "primary key": (LINES, rewritten(LINES, " PRIMARY KEY AUTOINCREMENT"), "PRIMARY KEY"),
    "unique column": (LINKS, rewritten(LINKS, "bigint NULL UNIQUE", "bigint NULL"), '"position" bigint NULL'),
    "unique columns": (
        LINKS,
        rewritten(LINKS, 'UNIQUE ("event", "line")', "CHECK (1)"),
        '"one_link_per_event" UNIQUE ("event", "line")',
    ),
    "unique index": (APPROVALS, "DROP INDEX one_waiting_approval", 'UNIQUE INDEX ON "approvals_approval"'),
    "check": (
        APPROVALS,
        rewritten(APPROVALS, 'NOT ("answered_by_id"', '("answered_by_id"'),
        '"nobody_answers_their_own_request" CHECK',
    ),
    "foreign key": (
        LINES,
        rewritten(LINES, 'REFERENCES "accounts_user" ("id")', 'REFERENCES "budgets_budget" ("id")'),
        'REFERENCES "accounts_user"',
    ),
    "not null": (LINES, rewritten(LINES, '"amount" bigint NOT NULL', '"amount" bigint'), '"amount" bigint'),
    "a table that heeds no clause": (
        "accounts_recoverycode",
        "UPDATE sqlite_master SET sql = replace(sql, 'CREATE TABLE \"accounts_recoverycode\"', 'CREATE VIRTUAL TABLE "
        "accounts_recoverycode USING fts4') WHERE name = 'accounts_recoverycode'",
        "CREATE VIRTUAL TABLE accounts_recoverycode USING fts4",
    ),
    "a value that is computed": (
        LINES,
        rewritten(LINES, '"amount" bigint NOT NULL', '"amount" bigint NOT NULL DEFAULT (abs(-5))'),
        "DEFAULT (abs(-5))",
    ),
    "an index of what a function says": (
        LINES,
        f"CREATE INDEX faster ON {LINES} (abs(amount))",
        f"INDEX ON {LINES} (abs(amount))",
    ),
}


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own statements")
@pytest.mark.parametrize("table, statement, part", LOST.values(), ids=LOST)
def test_what_a_table_of_sqlite_lacks_or_has_besides_is_named(table, statement, part):
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA writable_schema = ON")
        cursor.execute(statement)
        cursor.execute("PRAGMA writable_schema = OFF")
    said = list(portal_tables.differences())
    assert said and all(f"The table {table} " in each for each in said)
    assert any(part in each for each in said)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own statements")
def test_an_index_that_a_site_adds_to_read_faster_is_no_finding():
    with connection.cursor() as cursor:
        cursor.execute(f'create index faster on "{LINES}" (amount desc, "kind")')
    assert list(portal_tables.differences()) == []


@pytest.mark.parametrize(
    "body, clauses",
    [
        ('"a" int, "b" text', ['"a" int', '"b" text']),
        ("a CHECK (a IN (1, 2)), b", ["a CHECK (a IN (1, 2))", "b"]),
        ("a DEFAULT ',)', \"b,(\" int", ["a DEFAULT ',)'", '"b,(" int']),
        ("a DEFAULT 'it''s, so', b", ["a DEFAULT 'it''s, so'", "b"]),
        ("a, -- b, (\nc, /* d, ( */ e", ["a", "-- b, (\nc", "/* d, ( */ e"]),
        ("[a,b] int, `c,``d` int", ["[a,b] int", "`c,``d` int"]),
    ],
)
def test_clauses_are_cut_as_sqlite_reads_them(body, clauses):
    assert list(sqlite_clauses.of_table(f'CREATE TABLE "t" ({body})')) == clauses
    assert list(sqlite_clauses.of_table(f'CREATE TABLE "t" ({body}) STRICT')) == [*clauses, "STRICT"]


# On PostgreSQL: the statement, and what is said.
ON_A_SERVER = {
    "primary key": (f"ALTER TABLE {LINES} DROP CONSTRAINT {LINES}_pkey CASCADE", "PRIMARY KEY (id)"),
    "unique columns": (
        f"ALTER TABLE {LINKS} DROP CONSTRAINT one_link_per_event",
        "lacks what this version's models say of it, so rows may be there that it would have refused: "
        "UNIQUE (event, line)",
    ),
    "unique index": (
        "DROP INDEX one_waiting_approval",
        "UNIQUE INDEX USING btree (kind, subject) WHERE state",
    ),
    "check": (
        f"ALTER TABLE {APPROVALS} DROP CONSTRAINT nobody_answers_their_own_request",
        "CHECK (answered_by_id IS NULL OR NOT (answered_by_id = by_id",
    ),
    "check of another thing": (
        f"ALTER TABLE {APPROVALS} DROP CONSTRAINT nobody_answers_their_own_request, "
        "ADD CONSTRAINT nobody_answers_their_own_request CHECK (answered_by_id > 0)",
        "has what this version's models do not say of it: CHECK (answered_by_id > 0)",
    ),
    "check of numbers as texts": (
        f"ALTER TABLE {LINES} DROP CONSTRAINT ledger_amounts_are_positive, "
        "ADD CONSTRAINT ledger_amounts_are_positive CHECK (amount::text > 0::text)",
        "has what this version's models do not say of it: CHECK (amount::text > 0::text)",
    ),
    "foreign key": (
        "DO $$ DECLARE name text; BEGIN SELECT conname INTO name FROM pg_constraint WHERE contype = 'f' AND "
        f"conrelid = '{LINES}'::regclass AND confrelid = 'accounts_user'::regclass; "
        f"EXECUTE format('ALTER TABLE {LINES} DROP CONSTRAINT %I', name); END $$",
        "FOREIGN KEY (by_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED",
    ),
    "not null": (f"ALTER TABLE {LINES} ALTER amount DROP NOT NULL", "amount bigint NOT NULL"),
    "no right to make tables for the comparison": (
        "DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); "
        "CREATE ROLE dpportal_test_powerless; SET LOCAL ROLE dpportal_test_powerless; END $$",
        "the portal's account needs TEMPORARY on its database",
    ),
    "a column that calls a function": (
        f"ALTER TABLE {LINKS} ADD more text DEFAULT current_query()",
        'more text "default" DEFAULT current_query()',
    ),
}
LOSE = """
import json, sys
import django
django.setup()
from django.db import connection, transaction
from dpportal.operations import portal_tables
assert list(portal_tables.differences()) == []
with transaction.atomic():
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE notes (id int)")
    assert list(portal_tables.differences()) == []
    transaction.set_rollback(True)
said = {}
for what, (statement, _part) in json.loads(sys.argv[1]).items():
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(statement)
        said[what] = list(portal_tables.differences())
        transaction.set_rollback(True)
assert list(portal_tables.differences()) == []
print(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.redis
def test_what_a_table_on_a_server_lacks_or_has_besides_is_named(tmp_path, postgres_url, redis_url):
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        said = json.loads(world.run("-c", LOSE, json.dumps(ON_A_SERVER)))
    assert {what: part for what, (_s, part) in ON_A_SERVER.items() if part not in " ".join(said[what])} == {}
