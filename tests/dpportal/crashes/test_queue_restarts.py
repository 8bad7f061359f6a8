"""Redis dies while a worker of several places is at a job, and comes back: what waits then is done all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.dpportal import queue_servers
from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.crashes.test_releases import AMOUNT, finish
from tests.dpportal.portal_command.starting import free_port
from tests.dpportal.queue_servers import Server
from tests.dpportal.world import with_servers

pytestmark = [
    pytest.mark.worker,
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.skipif(bool(queue_servers.lacking_redis()), reason=queue_servers.lacking_redis() or "-"),
]


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Server]:
    server = queue_servers.redis(tmp_path, free_port(), lasting=True)
    server.start()
    wait_until(server.listens, "Redis listens")
    yield server
    server.kill()


@pytest.fixture
def stage(tmp_path: Path, queue: Server, postgres_url: str, redis_url: str) -> Iterator[Stage]:
    with with_servers(tmp_path / "world", postgres_url, redis_url) as world:
        world.broker["CELERY_BROKER_URL"] = f"redis://127.0.0.1:{queue.port}/0"
        yield Stage(world)
        world.stop_all()


def test_a_worker_that_hears_of_nothing_any_more_ends_and_its_successor_goes_on(stage: Stage, queue: Server):
    """The end of its job could not be acknowledged, and Celery takes no other message before that."""
    spent, _reserved = stage.budget()
    first = UUID(stage.ask("confirm"))
    worker = stage.saboteur(points.COUNTED, first, signal.SIGSTOP)
    stage.wait_until_stopped(worker, first)
    queue.kill()
    os.killpg(worker.pid, signal.SIGCONT)
    finish(stage, first)
    wait_until(lambda: "Couldn't ack" in stage.world.log().read_text(), "it tells the server that is gone")
    queue.start()
    wait_until(queue.listens, "Redis is back")
    second = UUID(stage.ask("confirm"))
    wait_until(lambda: worker.poll() is not None, "the worker ends itself")
    stage.worker()
    finish(stage, second)
    assert stage.budget() == (spent + 2 * AMOUNT, 0)
