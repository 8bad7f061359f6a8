"""`manage.py verify` on SQLite, of whose file somebody made a table again without its key, or an index of some rows."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing

import pytest

from tests.dpportal.history.test_forged_on_a_server import AUDIT, LINES, found
from tests.dpportal.world import World, embedded

pytestmark = pytest.mark.slow


def made_without_key(file: sqlite3.Connection, table: str) -> None:
    """By its own statement, but for the key."""
    [(made,)] = file.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table])
    indexes = file.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql > ''", [table]
    ).fetchall()
    file.execute(f"ALTER TABLE {table} RENAME TO held")
    file.execute(made.replace(" PRIMARY KEY AUTOINCREMENT", ""))
    file.execute(f"INSERT INTO {table} SELECT * FROM held")
    file.execute("DROP TABLE held")
    for (index,) in indexes:
        file.execute(index)


def second(file: sqlite3.Connection, table: str, chosen: str, **changed: object) -> None:
    """A row with the key of one that is there, and of a later time: whoever reads both takes the honest one last."""
    found = file.execute(f"SELECT * FROM {table} WHERE {chosen} ORDER BY id LIMIT 1")
    names = [column[0] for column in found.description]
    row = {**dict(zip(names, found.fetchone(), strict=True)), "at": "2999-01-01 00:00:00", **changed}
    places = ", ".join("?" * len(names))
    file.execute(f"INSERT INTO {table} VALUES ({places})", [row[name] for name in names])


def forge(world: World) -> None:
    path = world.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA legacy_alter_table = ON")
        file.execute("BEGIN")
        triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _made in triggers:
            file.execute(f"DROP TRIGGER {name}")
        for table in (LINES, AUDIT):
            made_without_key(file, table)
        second(file, LINES, "kind = 'grant'", amount=95_000_000, key=uuid.uuid4().hex)
        second(file, AUDIT, "action = 'raced'", detail="none")
        file.execute("UPDATE budgets_budget SET total = total + 95000000")
        for _name, made in triggers:
            file.execute(made)
        file.execute("COMMIT")


def test_second_rows_with_an_honest_ones_key_are_named(tmp_path):
    with embedded(tmp_path) as world:
        world.run("-m", "tests.dpportal.budgets.racer", "charged")
        assert "All agrees" in world.run("manage.py", "verify")
        forge(world)
        said = found(world)
    for table in (LINES, AUDIT):
        assert f"The table {table} has 2 rows with the same key" in said
        assert f"The table {table} lacks what this version's models say of it" in said
        assert '"id" integer NOT NULL PRIMARY KEY AUTOINCREMENT' in said
    assert "does not have the amounts that its lines add up to" in said


def written_into_the_schema(path: str, index: str, statement: str) -> None:
    """A statement of an index that the file says, whatever the index has."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA writable_schema = ON")
        file.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", [statement, index])
        [(version,)] = file.execute("PRAGMA schema_version").fetchall()
        file.execute(f"PRAGMA schema_version = {version + 1}")


def made_of_some_rows(path: str, chosen: str) -> None:
    """The index that sums of a budget are read by, under its honest statement."""
    with closing(sqlite3.connect(path)) as file:
        [(index, honest)] = file.execute(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND sql LIKE '%(\"budget_id\")'", [LINES]
        ).fetchall()
    written_into_the_schema(path, index, f"{honest} WHERE {chosen}")
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute(f"REINDEX {index}")
    written_into_the_schema(path, index, honest)


def test_a_total_that_an_index_of_some_lines_hides_is_named(tmp_path):
    with embedded(tmp_path) as world:
        world.run("-m", "tests.dpportal.budgets.racer", "charged")
        path = world.database_url.removeprefix("sqlite:///")
        made_of_some_rows(path, "state <> 'spent'")
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute("UPDATE budgets_budget SET spent = 0")
        hidden = found(world)
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute("REINDEX")
        shown = found(world)
    assert "The database's file contradicts itself (row " in hidden.splitlines()[0]
    assert "contradicts itself" not in shown
    assert "does not have the amounts that its lines add up to" in shown
