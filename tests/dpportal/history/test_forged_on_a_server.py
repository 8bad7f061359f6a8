"""`manage.py verify` on PostgreSQL, whose owner changed committed lines past all triggers: it names each change.

The tests of one database alone see no commit, at which PostgreSQL gives links their places.
"""

from __future__ import annotations

import subprocess

import psycopg
import pytest

from tests.dpportal.budgets.conftest import world  # noqa: F401 (a fixture)
from tests.dpportal.world import World

pytestmark = [
    *(pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis),
    pytest.mark.parametrize("world", ["servers"], indirect=True, ids=["PostgreSQL and Redis"]),
]
AUDIT, LINES, LINKS = "accounts_auditentry", "budgets_ledgerentry", "history_link"

# Whoever reads both rows with a key takes the honest one last.
LATER = "at = at + interval '1 second'"


def swapped(first: int, second: int) -> list[str]:
    """Two links in each other's place."""
    moves = ((first, 0), (second, first), (0, second))
    return [f"UPDATE {LINKS} SET position = {to} WHERE position = {at}" for at, to in moves]


def second(table: str, chosen: str, changed: str) -> list[str]:
    """A second row with the key of one that is there, in a table that inherits."""
    return [
        f"CREATE TABLE second () INHERITS ({table})",
        f"INSERT INTO second SELECT * FROM ONLY {table} WHERE {chosen} ORDER BY id LIMIT 1",
        f"UPDATE second SET {changed}",
    ]


# By what was done: the statements, those that undo it, and what is said.
FORGERIES: dict[str, tuple[list[str], list[str], str]] = {
    "a deleted audit line": (
        [
            f"CREATE TABLE held AS SELECT * FROM {AUDIT} WHERE action = 'raced'",
            f"DELETE FROM {AUDIT} WHERE action = 'raced'",
        ],
        [f"INSERT INTO {AUDIT} SELECT * FROM held", "DROP TABLE held"],
        "is gone: it was deleted",
    ),
    "a changed amount": (
        [f"UPDATE {LINES} SET amount = amount + 1 WHERE state = 'spent'"],
        [f"UPDATE {LINES} SET amount = amount - 1 WHERE state = 'spent'"],
        "says something else than when it was written",
    ),
    "swapped lines": (swapped(2, 3), swapped(2, 3), "does not follow from the one before"),
    "a changed total": (
        ["UPDATE budgets_budget SET total = total + 1000000"],
        ["UPDATE budgets_budget SET total = total - 1000000"],
        "does not have the amounts that its lines add up to",
    ),
    "a second grant with the key of the first": (
        [
            *second(LINES, "kind = 'grant'", f"amount = 95000000, key = gen_random_uuid(), {LATER}"),
            "UPDATE budgets_budget SET total = total + 95000000 WHERE id = (SELECT budget_id FROM second)",
        ],
        [
            "UPDATE budgets_budget SET total = total - 95000000 WHERE id = (SELECT budget_id FROM second)",
            "DROP TABLE second",
        ],
        f"The table {LINES} has 2 rows with the same key",
    ),
    "a second act with the key of the first": (
        second(AUDIT, "action = 'raced'", f"detail = 'none', {LATER}"),
        ["DROP TABLE second"],
        f"The table {AUDIT} has 2 rows with the same key",
    ),
    "a second link in the place of another": (
        second(LINKS, "position = 2", "id = 1000000"),
        ["DROP TABLE second"],
        "Link 2 is there more than once",
    ),
    "a table that may have second rows": (
        [f"CREATE TABLE second () INHERITS ({LINES})"],
        ["DROP TABLE second"],
        f"The table second inherits from {LINES}",
    ),
    "a trigger that takes acts away with their links": (
        [
            "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            f"CREATE TRIGGER swallow AFTER INSERT ON {LINKS} FOR EACH ROW EXECUTE FUNCTION swallow()",
        ],
        ["DROP FUNCTION swallow CASCADE"],
        f"The table {LINKS} has the trigger swallow",
    ),
    "a policy that hides acts from pages": (
        [
            f"ALTER TABLE {AUDIT} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY hides ON {AUDIT} USING (action <> 'raced' OR current_query() ~ 'id')",
        ],
        [
            f"ALTER TABLE {AUDIT} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY",
            f"DROP POLICY hides ON {AUDIT}",
        ],
        f"The table {AUDIT} has the row policy hides",
    ),
    "another fingerprint": (
        ["UPDATE datasets_dataset SET fingerprint = fingerprint || 'x'"],
        ["UPDATE datasets_dataset SET fingerprint = rtrim(fingerprint, 'x')"],
        "fingerprint of dataset",
    ),
    "a trigger that is switched off": (
        [f"ALTER TABLE {LINKS} DISABLE TRIGGER ALL"],
        [f"ALTER TABLE {LINKS} ENABLE TRIGGER ALL"],
        "is gone, changed or switched off",
    ),
}


def as_owner(world: World, statements: list[str]) -> None:  # noqa: F811
    """Changes for good, and no trigger is asked."""
    with psycopg.connect(world.database_url) as connection:
        for statement in ("SET session_replication_role = replica", *statements):
            connection.execute(statement)


def found(world: World) -> str:  # noqa: F811
    """What `manage.py verify` says."""
    try:
        return world.run("manage.py", "verify")
    except subprocess.CalledProcessError as fault:
        return str(fault.stdout)


def test_each_change_past_the_portal_is_named(world: World) -> None:  # noqa: F811
    world.run("-m", "tests.dpportal.budgets.racer", "charged")
    said = {}
    for name, (forge, undo, _words) in FORGERIES.items():
        as_owner(world, forge)
        said[name] = found(world)
        as_owner(world, undo)
    assert {name: words for name, (_f, _u, words) in FORGERIES.items() if words not in said[name]} == {}
    assert "All agrees" in found(world)
