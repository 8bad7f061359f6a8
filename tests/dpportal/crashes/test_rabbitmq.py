"""RabbitMQ as the queue: workers that are killed one after another lose nothing and charge nothing twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from kombu import Connection

from dpportal.jobs import queues
from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import PATIENCE_SECONDS, Stage
from tests.dpportal.crashes.test_releases import AMOUNT, check_result, finish, measurements
from tests.dpportal.world import kill, with_servers

pytestmark = [pytest.mark.worker, pytest.mark.postgres, pytest.mark.redis]
KILLED_AT = (points.COUNTING, points.AFTER_COMMIT)


@pytest.fixture
def on_rabbitmq(tmp_path: Path, postgres_url: str, redis_url: str, rabbitmq_url: str) -> Iterator[Stage]:
    with with_servers(tmp_path / "world", postgres_url, redis_url) as world:
        world.broker["CELERY_BROKER_URL"] = rabbitmq_url
        _forget_messages(rabbitmq_url)
        yield Stage(world)
        world.stop_all()
        _forget_messages(rabbitmq_url)


def _forget_messages(address: str) -> None:
    with Connection(address) as connection:
        for name in queues.NAMES:
            connection.default_channel.queue_delete(name)


def test_workers_that_are_killed_one_after_another_lose_nothing(on_rabbitmq: Stage) -> None:
    stage = on_rabbitmq
    spent, _reserved = stage.budget()
    releases = {point: UUID(stage.ask("confirm")) for point in KILLED_AT}
    for point, release in releases.items():
        victim = stage.saboteur(point, release)
        assert victim.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    successor = stage.worker()
    for release in releases.values():
        finish(stage, release)
        check_result(stage, stage.see(release))
        assert len(measurements(stage, release)) == 1
    kill(successor)
    assert stage.budget() == (spent + len(releases) * AMOUNT, 0)
