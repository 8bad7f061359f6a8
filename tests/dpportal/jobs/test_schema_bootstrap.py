"""A new database has just the tables that all migrations lead to."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
AT_ONCE = (
    "import django; django.setup(); from dpportal.jobs.schema_bootstrap import bring_up_to_date as up; up()"
)


def run(data: Path, *command: str) -> subprocess.Popen:
    data.mkdir(exist_ok=True)
    variables = {"DPPORTAL_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "dpportal.settings"}
    kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return subprocess.Popen([sys.executable, *command], cwd=ROOT, env={**kept, **variables})


def made(data: Path, *command: str) -> Path:
    assert run(data, *command).wait(120) == 0
    return data / "portal.sqlite3"


@pytest.fixture(scope="module")
def by_migrations(tmp_path_factory):
    return made(tmp_path_factory.mktemp("migrated"), "manage.py", "migrate", "--verbosity", "0")


@pytest.fixture(scope="module")
def at_once(tmp_path_factory):
    return made(tmp_path_factory.mktemp("new"), "-c", AT_ONCE)


def asked(database: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def tables(database: Path) -> list[str]:
    return [
        name for (name,) in asked(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
    ]


def columns(database: Path, table: str) -> list[tuple]:
    """Name, type, whether null is refused, default, place in the primary key; in the order of names."""
    return sorted(column[1:] for column in asked(database, f"PRAGMA table_info({table})"))


def keys(database: Path, table: str) -> list[tuple]:
    return sorted(key[2:] for key in asked(database, f"PRAGMA foreign_key_list({table})"))


def rules(database: Path, table: str) -> list[str]:
    """What is said of columns and of whole rows in the table's own words, in the order of the words."""
    [(words,)] = asked(database, f"SELECT sql FROM sqlite_master WHERE name = '{table}'")
    _, _, inside = words.partition("(")
    return sorted(part.strip(" ()") for part in inside.replace("CONSTRAINT", ",CONSTRAINT").split(","))


def indexes(database: Path, table: str) -> list[tuple]:
    """Each index: whether unique, whether partial, its columns, its words."""
    found = asked(
        database,
        f'SELECT i."unique", i.partial, (SELECT group_concat(name) FROM pragma_index_xinfo(i.name) WHERE key), m.sql '
        f"FROM pragma_index_list('{table}') i JOIN sqlite_master m ON m.name = i.name",
    )
    return sorted(found, key=str)


@pytest.mark.slow
def test_the_tables_are_the_same(by_migrations, at_once):
    assert tables(at_once) == tables(by_migrations)
    for table in tables(by_migrations):
        for of in (columns, keys, rules, indexes):
            assert of(at_once, table) == of(by_migrations, table), (table, of.__name__)


@pytest.mark.slow
def test_triggers_and_views_are_the_same(by_migrations, at_once):
    others = "SELECT type, name, sql FROM sqlite_master WHERE type NOT IN ('table', 'index') ORDER BY 2"
    assert asked(at_once, others) == asked(by_migrations, others)


@pytest.mark.slow
def test_all_migrations_are_known_as_applied(by_migrations, at_once):
    applied = "SELECT app, name FROM django_migrations ORDER BY 1, 2"
    assert asked(at_once, applied) == asked(by_migrations, applied) != []


@pytest.mark.slow
def test_what_migrations_write_is_written(by_migrations, at_once):
    for table in tables(by_migrations):
        if table != "sqlite_sequence":
            number = f"SELECT count(*) FROM {table}"
            assert asked(at_once, number) == asked(by_migrations, number), table


@pytest.mark.slow
def test_of_two_that_start_at_the_same_time_one_makes_the_tables(tmp_path, at_once):
    both = [run(tmp_path, "-c", AT_ONCE) for _ in range(2)]
    assert [start.wait(120) for start in both] == [0, 0]
    assert tables(tmp_path / "portal.sqlite3") == tables(at_once)


@pytest.mark.slow
def test_an_older_database_is_brought_up_to_date_by_migrations(tmp_path, at_once):
    older = made(tmp_path, "-c", AT_ONCE)
    made(tmp_path, "manage.py", "migrate", "streams", "zero", "--verbosity", "0")
    applied = "SELECT count(*) FROM django_migrations"
    assert asked(older, applied) < asked(at_once, applied)
    made(tmp_path, "-c", AT_ONCE)
    assert asked(older, applied) == asked(at_once, applied)
    for table in tables(at_once):
        assert indexes(older, table) == indexes(at_once, table)
