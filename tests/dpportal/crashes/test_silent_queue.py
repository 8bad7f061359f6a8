"""A queue that does not answer loses nothing: what was confirmed stands, and the sweep tries again."""

import json
from uuid import UUID

import pytest

from tests.dpportal.crashes.stage import wait_until
from tests.dpportal.world import World, embedded

pytestmark = pytest.mark.worker

# A worker that lives and hears nothing of its queue.
LIVING = """
import django, time
django.setup()
from dpportal.running.heartbeat import Pulse
Pulse("worker").start()
time.sleep(600)
"""
NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture
def world(tmp_path):
    with embedded(tmp_path) as started:
        started.broker["CELERY_BROKER_URL"] = NOBODY
        yield started


def confirmed(world: World) -> UUID:
    clerk = world.start("-m", "tests.dpportal.crashes.clerk", pipes=True)
    assert clerk.stdin is not None and clerk.stdout is not None
    clerk.stdin.write(b'["prepare"]\n["confirm"]\n')
    clerk.stdin.flush()
    _dataset, release = [json.loads(clerk.stdout.readline()) for _ in range(2)]
    return UUID(release)


def test_a_confirmation_stands_and_the_sweep_keeps_trying(world):
    release = confirmed(world)
    jobs = world.rows("SELECT state, attempts FROM releases_releasejob WHERE release_id = %s", release)
    assert jobs == [("queued", 0)]
    assert world.rows("SELECT spent, reserved FROM budgets_budget") == [(0, 100_000)]

    world.start("-c", LIVING)
    sweep = world.start("manage.py", "sweep")
    complaint = "The queue does not answer"
    wait_until(lambda: world.log().read_text().count(complaint) >= 2, "the sweep has tried twice")
    assert sweep.poll() is None
