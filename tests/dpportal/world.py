"""A portal of its own for a test: data folder, database, queue, and real processes that work on them."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import psycopg
import redis

from tests.dpportal.bucket import Bucket

ROOT = Path(__file__).resolve().parents[2]
LEASE_SECONDS = 3
MIGRATE = ("manage.py", "migrate", "--verbosity", "0")
# Worlds start many processes: each would compile the portal anew.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


@dataclass
class World:
    """Runs the portal's code in processes, and looks into the database past Django."""

    folder: Path
    database_url: str
    broker: dict[str, str] = field(default_factory=dict)
    bucket: Bucket | None = None
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **{
                k: v for k, v in os.environ.items() if not k.startswith(("DPPORTAL_", "CELERY_", NO_BYTECODE))
            },
            "DJANGO_SETTINGS_MODULE": "tests.dpportal.world_settings",
            "DPPORTAL_DATA_DIR": str(self.folder / "data"),
            "DPPORTAL_JOB_LEASE": str(LEASE_SECONDS),
            "DPPORTAL_SWEEP_SECONDS": "0.5",
            "DATABASE_URL": self.database_url,
            "PYTHONPATH": str(ROOT),
            **self.broker,
            **(self.bucket.environment if self.bucket else {}),
        }

    @property
    def files(self) -> Path:
        """Where what the portal stores lies on this machine's disk."""
        return self.bucket.objects if self.bucket else self.folder / "data" / "files"

    def run(self, *arguments: str) -> str:
        """Run `python arguments` to its end; returns what it printed. Raises CalledProcessError."""
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def start(
        self, *arguments: str, pipes: bool = False, extra: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start `python arguments` as the leader of its own process group; it is killed with the world."""
        pipe = subprocess.PIPE if pipes else None
        with self.log().open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**self.environment, **(extra or {})},
                stdin=pipe,
                stdout=pipe or log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def log(self) -> Path:
        return self.folder / "processes.log"

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query with %s for values."""
        return self.select(sql, *values)[1]

    def select(self, sql: str, *values: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The column names and the rows of a query with %s for values; read past Django."""
        with closing(self._connect()) as connection:
            cursor = connection.cursor()
            if isinstance(connection, sqlite3.Connection):
                sql, values = sql.replace("%s", "?"), tuple(map(_plain, values))
            cursor.execute(sql, values)
            return [column[0] for column in cursor.description or ()], cursor.fetchall()

    def attempt(self, *statements: str) -> None:
        """Execute statements past Django, in one transaction that is rolled back."""
        with closing(self._connect()) as connection:
            for statement in statements:
                connection.cursor().execute(statement)
            connection.rollback()

    def _connect(self) -> Any:
        if self.database_url.startswith("sqlite"):
            return sqlite3.connect(self.database_url.removeprefix("sqlite:///"), timeout=20)
        return psycopg.connect(self.database_url)

    def stop_all(self) -> None:
        for process in self.started:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started, at once, and take leave of it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        _close(pipe)


def _close(pipe: BinaryIO | Any | None) -> None:
    if pipe is not None:
        with suppress(BrokenPipeError):
            pipe.close()


def _plain(value: Any) -> Any:
    """SQLite keeps a UUID as its hexadecimal digits."""
    return value.hex if isinstance(value, uuid.UUID) else value


@contextmanager
def embedded(folder: Path, bucket: Bucket | None = None) -> Iterator[World]:
    """SQLite and the filesystem as queue, as a fresh portal has them; its files in the bucket, if there is one."""
    _copy(_template(), folder)
    with _working(World(folder, _sqlite(folder), bucket=bucket)) as world:
        yield world


@contextmanager
def with_servers(
    folder: Path, postgres_url: str, redis_url: str, bucket: Bucket | None = None, **shared: str
) -> Iterator[World]:
    """A PostgreSQL database that is dropped and a Redis queue that is emptied afterwards.

    bucket: where the files are kept, if not in a folder; shared: what else the environment of all machines says.
    """
    name = _new_name()
    broker = {"CELERY_BROKER_URL": redis_url, "TEST_QUEUE_PREFIX": f"{name}:", **shared}
    world = World(folder, f"{postgres_url}/{name}", broker, bucket)
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as server:
        if shared:
            (folder / "data").mkdir(parents=True)
            server.execute(f'CREATE DATABASE "{name}"')
            world.run(*MIGRATE)
        else:
            template, data = _template_on(postgres_url, redis_url)
            _copy(data, folder)
            server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            with _working(world):
                yield world
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            queue = redis.Redis.from_url(redis_url)
            for key in queue.scan_iter(f"{name}:*"):
                queue.delete(key)


@contextmanager
def _working(world: World) -> Iterator[World]:
    try:
        yield world
    finally:
        world.stop_all()


@cache
def _template() -> Path:
    """A data folder after the first migration: database, keys and memory. Migrating takes longer than a copy."""
    folder = _template_folder()
    World(folder, _sqlite(folder)).run(*MIGRATE)
    return folder / "data"


@cache
def _template_on(postgres_url: str, redis_url: str) -> tuple[str, Path]:
    """The name of such a database on a server, and the data folder that goes with it; dropped when Python ends."""
    name, folder = _new_name(), _template_folder()
    _on_server(postgres_url, f'CREATE DATABASE "{name}"')
    atexit.register(_on_server, postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')
    World(folder, f"{postgres_url}/{name}", {"CELERY_BROKER_URL": redis_url}).run(*MIGRATE)
    return name, folder / "data"


def _copy(data: Path, folder: Path) -> None:
    """A data folder, and the master key beside it."""
    shutil.copytree(data, folder / "data")
    shutil.copy(data.with_name("data.master_key"), folder)


def _template_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dpportal-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "data").mkdir()
    return folder


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'data' / 'portal.sqlite3'}"


def _new_name() -> str:
    return f"dpportal_test_{uuid.uuid4().hex[:12]}"


def _on_server(postgres_url: str, statement: str) -> None:
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as server:
        server.execute(statement)
