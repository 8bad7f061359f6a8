"""A worker that stands still inside the transaction of a measurement stops nobody but itself."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.crashes.test_releases import AMOUNT, check_result, finish, measurements
from tests.dpportal.world import kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]

# On PostgreSQL nobody waits for the worker; SQLite's one lock is free when the supervisor has noticed.
SECONDS = {"postgres": 20.0, "sqlite": 19.0}


# SQLite has no rows that one could hold.
ON_SERVERS = pytest.mark.parametrize(
    "stage",
    [pytest.param("servers", marks=[pytest.mark.postgres, pytest.mark.redis])],
    ids=["PostgreSQL and Redis"],
    indirect=True,
)


@contextmanager
def frozen(stage: Stage, release: UUID) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that stopped itself with charge and measurement written and not committed."""
    sleeper = stage.kept_saboteur(points.BEFORE_COMMIT, release, signal.SIGSTOP)
    # Whatever waits for it in vain ends some time, as a failure.
    rescue = threading.Timer(300, kill, [sleeper])
    rescue.start()
    try:
        wait_until(stage.mark(release).exists, "the worker stops itself")
        yield sleeper
    finally:
        rescue.cancel()


def test_people_sign_in_and_confirm_while_a_worker_stands_still(stage: Stage):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    seconds = SECONDS[stage.world.database_url.partition(":")[0]]
    with frozen(stage, release) as sleeper:
        assert stage.ask("look_at_health") < 10
        assert stage.ask("sign_in") < seconds
        took, status, _again, _busy = stage.ask("press_confirm")
        assert took < seconds and status in (302, 503)
        # Under the supervisor the worker itself is started anew.
        other = stage.worker() if stage.world.broker else sleeper
        finish(stage, release)
    done, files = stage.see(release), stage.files()
    check_result(stage, done)
    assert len(measurements(stage, release)) == 1

    with suppress(ProcessLookupError):
        os.killpg(sleeper.pid, signal.SIGCONT)
    wait_until(
        lambda: stage.times_left(release) >= 1, "the woken worker, or the one in its place, is through"
    )
    wait_until(lambda: stage.budget()[1] == 0, "what was confirmed meanwhile is done")
    stop(sleeper)
    kill(other)
    assert stage.see(release) == done
    confirmed = 2 if status == 302 else 1
    assert stage.budget() == (spent + confirmed * AMOUNT, 0)
    now = stage.files()
    assert {name: now.get(name) for name in files} == files


def stop(worker: subprocess.Popen[bytes]) -> None:
    """In order, so that a supervisor takes its worker with it."""
    worker.terminate()
    with suppress(subprocess.TimeoutExpired):
        worker.wait(20)
    kill(worker)


@contextmanager
def held(stage: Stage, table: str, column: str, value: Any) -> Iterator[None]:
    """Hold a row as a transaction does that never ends."""
    with psycopg.connect(stage.world.database_url) as connection:
        rescue = threading.Timer(300, connection.close)
        rescue.start()
        connection.execute(f"SELECT 1 FROM {table} WHERE {column} = %s FOR NO KEY UPDATE", [value])
        yield
        rescue.cancel()


@ON_SERVERS
def test_a_row_that_is_held_keeps_no_one_from_signing_in_and_a_page_says_so(stage: Stage):
    with held(stage, "accounts_user", "username", "curator"):
        assert stage.ask("sign_in") < 10
    with held(stage, "datasets_dataset", "id", stage.dataset):
        took, status, again, busy = stage.ask("press_confirm")
    assert took < 20 and (status, again, busy) == (503, "10", True)


# What any command of Django's or the portal's begins with, before and after it has migrated.
ASK = """
import django; django.setup()
from django.core.management import call_command
from django.db import connection
for command in (None, "migrate"):
    if command:
        call_command(command, verbosity=0)
    with connection.cursor() as cursor:
        for name in ("lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SHOW {name}")
            print(cursor.fetchone()[0])
"""


@ON_SERVERS
def test_a_command_that_is_stopped_at_a_terminal_holds_no_row_for_ever_but_a_migration_may(stage: Stage):
    """As createsuperuser or checkpoint, which write a line of the record that all others wait for."""
    assert stage.world.run("-c", ASK).split() == ["1min", "1min", "0", "0"]


@ON_SERVERS
def test_sweep_and_workers_go_past_a_job_that_is_held(stage: Stage):
    first, second = (stage.ask("confirm") for _ in range(2))
    stage.ask("let_wait", first, second)
    with held(stage, "releases_releasejob", "release_id", first):
        assert stage.ask("sweep", second) == [second]
        assert not stage.ask("claim", first)
    for release in (first, second):
        stage.ask("withdraw", release)
