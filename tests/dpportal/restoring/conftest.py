"""The two kinds of portal whose database is put back from an older copy."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.dpportal.world import World, embedded, kill, with_servers


class Desk:
    """A portal, somebody who works in it, and somebody who copies its database and puts the copy back."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._clerk = self._hire()

    def _hire(self) -> Any:
        return self.world.start("-m", "tests.dpportal.restoring.clerk", pipes=True)

    def ask(self, *question: Any) -> Any:
        """Let the clerk do something; None if that was the end of the clerk, and the next one begins."""
        process = self._clerk
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            kill(process)
            self._clerk = self._hire()
            return None
        return json.loads(answer)

    def end_open_transactions(self) -> None:
        """As the server does with those that say nothing for long, and when the machine with the other end is gone."""
        self._on_server(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{self._database}' AND state = 'idle in transaction'"
        )

    def manage(self, *arguments: str) -> str:
        return self.world.run("manage.py", *arguments)

    @property
    def memory(self) -> Path:
        return self.world.folder / "data" / "memory"

    def copy_database(self, name: str = "copy") -> None:
        if self.world.database_url.startswith("sqlite"):
            with (
                closing(sqlite3.connect(self._file)) as source,
                closing(sqlite3.connect(self._copy(name))) as copy,
            ):
                source.backup(copy)
        else:
            self._run("pg_dump", "--format=custom", f"--file={self._copy(name)}", self.world.database_url)

    def put_back(self, name: str = "copy") -> None:
        """The database is as it was when it was copied; files, keys and memory are as they are."""
        if self.world.database_url.startswith("sqlite"):
            for suffix in ("-wal", "-shm"):
                Path(f"{self._file}{suffix}").unlink(missing_ok=True)
            shutil.copy2(self._copy(name), self._file)
        else:
            self._on_server(f'DROP DATABASE "{self._database}" WITH (FORCE)')
            self._on_server(f'CREATE DATABASE "{self._database}"')
            self._run("pg_restore", f"--dbname={self.world.database_url}", str(self._copy(name)))

    @property
    def _file(self) -> Path:
        return Path(self.world.database_url.removeprefix("sqlite:///"))

    def _copy(self, name: str) -> Path:
        return self.world.folder / f"database.{name}"

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, timeout=120)

    @property
    def _database(self) -> str:
        return self.world.database_url.rpartition("/")[2]

    def _on_server(self, statement: str) -> None:
        server = self.world.database_url.rpartition("/")[0]
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(
    scope="module",
    params=["embedded", pytest.param("servers", marks=[pytest.mark.postgres, pytest.mark.redis])],
    ids=["SQLite and filesystem", "PostgreSQL and Redis"],
)
def desk(request, tmp_path_factory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("restoring")
    if request.param == "embedded":
        portal = embedded(folder)
    else:
        urls = (request.getfixturevalue(name) for name in ("postgres_url", "redis_url"))
        portal = with_servers(folder, *urls)
    with portal as world:
        working = Desk(world)
        working.ask("people")
        yield working
