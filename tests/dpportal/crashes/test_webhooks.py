"""A worker that is killed or frozen while a receiver has its message: the message comes again, with the same id."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_message_is_sent_at_least_once_with_one_id(stage: Stage, receiver: Receiver, how: signal.Signals):
    receiver.free.clear()
    first = stage.worker()
    secret = stage.ask("webhook", f"http://127.0.0.1:{receiver.port}/")
    assert receiver.arrived.acquire(timeout=30)
    os.killpg(first.pid, how)
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
