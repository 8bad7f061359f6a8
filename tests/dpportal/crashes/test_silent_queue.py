"""A queue that does not answer loses nothing: what was confirmed stands, and the sweep tries again."""

import json
import socket
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.dpportal.crashes.stage import wait_until
from tests.dpportal.world import World, embedded

pytestmark = pytest.mark.worker

# A worker that lives and hears nothing of its queue.
LIVING = """
import django, time
django.setup()
from dpportal.jobs.heartbeat import HeartbeatThread
HeartbeatThread("worker").start()
time.sleep(600)
"""


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A Redis that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield silent


@pytest.fixture
def world(server, tmp_path) -> Iterator[World]:
    with embedded(tmp_path) as started:
        started.broker["CELERY_BROKER_URL"] = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        started.broker["TEST_QUEUE_SECONDS"] = "0.2"
        yield started


def confirmed(world: World) -> UUID:
    clerk = world.start("-m", "tests.dpportal.crashes.clerk", pipes=True)
    assert clerk.stdin is not None and clerk.stdout is not None
    clerk.stdin.write(b'["prepare"]\n["confirm"]\n')
    clerk.stdin.flush()
    _dataset, release = [json.loads(clerk.stdout.readline()) for _ in range(2)]
    return UUID(release)


def test_a_confirmation_stands_and_the_sweep_keeps_trying(world, server):
    release = confirmed(world)
    jobs = world.rows("SELECT state, attempts FROM releases_releasejob WHERE release_id = %s", release)
    assert jobs == [("queued", 0)]
    assert world.rows("SELECT spent, reserved FROM budgets_budget") == [(0, 100_000)]

    world.start("-c", LIVING)
    sweep = world.start("manage.py", "sweep")
    complaint = "The queue does not answer"
    wait_until(lambda: complaint in world.log().read_text(), "the sweep has tried and did not wait for ever")
    server.close()
    tried = world.log().read_text().count(complaint)
    wait_until(lambda: world.log().read_text().count(complaint) > tried + 1, "it tries where nobody listens")
    assert sweep.poll() is None
