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


def swapped(first: int, second: int) -> list[str]:
    """Two links in each other's place."""
    moves = ((first, 0), (second, first), (0, second))
    return [f"UPDATE {LINKS} SET position = {to} WHERE position = {at}" for at, to in moves]


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
