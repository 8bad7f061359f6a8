"""When the portal cannot start, it says in one sentence what to do, and ends with code 1."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.dpportal.portal_command.starting import Portal, free_port, refused

# Each starts a portal.
pytestmark = pytest.mark.slow


def database(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "portal.sqlite3"


def test_a_data_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    data = tmp_path / "file" / "data"
    code, said = refused(data, free_port())
    assert code == 1
    assert said == (
        f"The data folder {data} cannot be made (Not a directory). "
        "Choose another with --data-dir, or have its parent made writable for this account.\n"
    )


def test_a_database_file_that_is_none(tmp_path):
    path = database(tmp_path / "data")
    path.write_bytes(b"This is a letter, not a database. " * 100)
    code, said = refused(tmp_path / "data", free_port())
    assert code == 1
    assert said == (
        f"CommandError: {path} cannot be read as a database. Restore it from a backup, "
        "or start with an empty folder by --data-dir.\n"
    )


@pytest.mark.parametrize(
    "migration", ["9999_later", "0001_initial"], ids=["a newer version", "a part of what is replaced"]
)
def test_a_database_of_another_version(tmp_path, migration):
    with closing(sqlite3.connect(database(tmp_path / "data"))) as other:
        other.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        other.execute("INSERT INTO django_migrations VALUES (1, 'releases', ?, '2030-01-01')", [migration])
        other.commit()
    code, said = refused(tmp_path / "data", free_port())
    assert code == 1
    assert said == (
        "CommandError: The database was made by another version of the portal, newer than this one or before 1.0. "
        "Install that version, or start with an empty folder by --data-dir.\n"
    )


@pytest.mark.parametrize("port", [0, 70000])
def test_a_port_that_is_none(tmp_path, port):
    code, said = refused(tmp_path / "data", port)
    assert code == 1
    assert said == (
        "CommandError: A port is a number from 1 to 65535; 8000 is usual. Choose one with --port.\n"
    )


@pytest.mark.parametrize(
    "options, told",
    [
        (("--curator", "two words"), "CommandError: This is no name to sign in with: "),
        (
            ("--administrator", "ada", "--curator", "ada"),
            "CommandError: Administrator and curator are two people; choose two names.\n",
        ),
    ],
)
def test_names_that_nobody_can_have(tmp_path, options, told):
    code, said = refused(tmp_path / "data", free_port(), *options)
    assert code == 1
    assert said.startswith(told)


def test_the_first_people_have_the_names_that_are_chosen(tmp_path):
    portal = Portal(tmp_path / "data", free_port(), "--administrator", "ada", "--curator", "carl.c")
    portal.end()
    assert [name for name, _hash in portal.passwords()] == ["ada", "carl.c"]
