"""A worker that is cut off from database and queue in the midst of a job, goes on, and is joined again later."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from tests.dpportal.crashes import namespace, points
from tests.dpportal.crashes.namespace import Namespace
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.crashes.test_frozen import ON_SERVERS, stop
from tests.dpportal.crashes.test_releases import AMOUNT, check_result, finish, measurements
from tests.dpportal.world import kill

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(bool(namespace.lacking()), reason=namespace.lacking() or "-"),
]


@pytest.fixture
def apart(stage: Stage) -> Iterator[Namespace]:
    urls = (stage.world.database_url, stage.world.broker["CELERY_BROKER_URL"])
    ports = [port for url in urls if (port := urlsplit(url).port)]
    with namespace.namespace(stage.world, ports) as made:
        yield made


@ON_SERVERS
@pytest.mark.parametrize("point", [points.COUNTING, points.BEFORE_COMMIT])
def test_a_worker_that_is_cut_off_loses_nothing_and_draws_nothing_twice(
    stage: Stage, apart: Namespace, point: str
):
    """It is stopped at the point until the line is down, and then goes on into the silence."""
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    lonely = stage.saboteur(point, release, signal.SIGSTOP, within=apart)
    stage.wait_until_stopped(lonely, release)
    apart.cut()
    os.killpg(lonely.pid, signal.SIGCONT)
    other = stage.worker()
    finish(stage, release)
    done, files = stage.see(release), stage.files()
    check_result(stage, done)

    apart.heal()
    with suppress(TimeoutError):
        wait_until(lambda: stage.times_left(release) >= 1, "the worker hears of the world again", seconds=15)
    stop(lonely)
    kill(other)
    assert stage.see(release) == done
    assert stage.budget() == (spent + AMOUNT, 0)
    assert len(measurements(stage, release)) <= 2  # its own lies there until the sweep
    now = stage.files()
    assert {name: now.get(name) for name in files} == files
    assert "All agrees" in stage.world.run("manage.py", "verify")
