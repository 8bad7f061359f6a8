"""A worker that is killed or frozen while a receiver has its message: the message comes again, with the same id."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.notices.receiver import Receiver, receiving
from tests.dpportal.world import embedded, kill

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    with embedded(tmp_path_factory.mktemp("webhooks")) as world:
        yield Stage(world)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def strike(stage: Stage, group: int, how: signal.Signals) -> None:
    """Kill, or stop while none of its threads writes: stopped there, only its supervisor's ending it frees SQLite."""
    os.killpg(group, how)
    while how == signal.SIGSTOP and not is_free(stage):
        os.killpg(group, signal.SIGCONT)
        time.sleep(0.05)
        os.killpg(group, how)


def is_free(stage: Stage) -> bool:
    """Whether the database can be written in."""
    path = stage.world.database_url.removeprefix("sqlite:///")
    database = sqlite3.connect(path, timeout=5, isolation_level=None)
    with closing(database), suppress(sqlite3.OperationalError):
        database.execute("BEGIN IMMEDIATE")
        return True
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_message_is_sent_at_least_once_with_one_id(stage: Stage, receiver: Receiver, how: signal.Signals):
    receiver.free.clear()
    first = stage.worker()
    secret = stage.ask("webhook", f"http://127.0.0.1:{receiver.port}/")
    assert receiver.arrived.acquire(timeout=30)
    strike(stage, first.pid, how)
    receiver.free.set()
    second = stage.worker()
    assert receiver.arrived.acquire(timeout=60), stage.world.log().read_text()[-2000:]
    wait_until(
        lambda: stage.world.rows("SELECT state FROM notices_delivery ORDER BY at DESC")[0] == ("done",),
        "sent",
    )
    os.killpg(first.pid, signal.SIGCONT) if how == signal.SIGSTOP else None
    assert len({request.id for request in receiver.received}) == 1
    assert all(request.verified(secret)["type"] == "webhook.test" for request in receiver.received)
    for worker in (first, second):
        kill(worker)
