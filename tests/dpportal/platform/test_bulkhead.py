"""A folder or a server that hangs takes a few of a web server's threads, and none of them for long."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from dpportal.jobs import worker_signals
from dpportal.jobs.claims import JobState
from dpportal.platform import bulkhead, journal
from dpportal.platform.bulkhead import Bulkhead, HangsError
from dpportal.releases import drafts, execution, services
from dpportal.releases.models import ReleaseJob
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """Not set until the test has ended, or sets it."""
    event = threading.Event()
    yield event
    event.set()


def test_a_worker_s_call_is_made_by_itself():
    assert Bulkhead().call(threading.current_thread) is threading.current_thread()


def test_what_a_call_returns_and_raises_is_the_caller_s():
    closed = Bulkhead()
    closed.close()
    assert closed.call(lambda: 5) == 5
    with pytest.raises(TimeoutError):
        closed.call(lambda: (_ for _ in ()).throw(TimeoutError))


def test_whoever_comes_while_all_places_hang_is_told_at_once_and_later_it_goes_on(hanging):
    closed = Bulkhead(places=2, seconds=0.05)
    closed.close()
    for _ in range(2):
        with pytest.raises(HangsError):
            closed.call(hanging.wait)
    closed.seconds = 3600
    with pytest.raises(HangsError):
        closed.call(lambda: 5)
    hanging.set()
    until = time.monotonic() + 90
    while closed._stuck and time.monotonic() < until:
        time.sleep(0.01)
    assert closed.call(lambda: 5) == 5


def test_whoever_waits_for_a_place_does_not_wait_as_long_as_whoever_has_one(hanging):
    """Else uploads to a slow server would take all threads of the web, each for as long as its file may take."""
    closed = Bulkhead(places=1, seconds=0.05)
    closed.close()
    has_a_place = threading.Thread(target=closed.call, args=(hanging.wait, 3600))
    has_a_place.start()
    try:
        with pytest.raises(HangsError):
            closed.call(lambda: 5, 3600)
    finally:
        hanging.set()
        has_a_place.join()


class Hanging(Bulkhead):
    """Whatever is asked of it hangs."""

    def __init__(self, until: threading.Event) -> None:
        super().__init__(seconds=0.05)
        self.until, self.calls = until, 0
        self.close()

    def call(self, function: Any) -> Any:
        self.calls += 1
        return super().call(self.until.wait)


@pytest.mark.django_db
def test_a_confirmation_says_that_the_memory_does_not_answer_and_reserves_nothing(
    draft, client, hanging, monkeypatch
):
    monkeypatch.setattr(bulkhead, "MEMORY", Hanging(hanging))
    client.force_login(draft.dataset.owner)
    reviewed = services.reviewed_as(*drafts.plan_of(draft))
    answer = client.post(
        f"/releases/{draft.pk}/review/", {"agreed": "on", "useless": "on", "reviewed": reviewed}
    )
    assert "memory does not answer" in html.unescape(answer.content.decode())
    assert building.left(draft.dataset) == 1


@pytest.mark.slow
@pytest.mark.django_db
def test_a_period_that_is_typed_while_the_memory_hangs_is_not_published_and_can_be_later(
    dataset, client, hanging, monkeypatch
):
    stream = open_stream(dataset)
    client.force_login(dataset.owner)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(bulkhead, "MEMORY", Hanging(hanging))
        page = client.post(f"/streams/{stream.pk}/add/", {"index": 1, "count-0": 5})
        assert page.status_code == 422 and "memory does not answer" in html.unescape(page.content.decode())
    assert not stream.periods.exists()
    [published] = publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    assert published.new


@pytest.mark.django_db
def test_a_worker_keeps_the_one_lock_of_all_no_longer_than_a_page(requested, hanging, monkeypatch):
    """On SQLite the memory is written to while every other writer waits."""
    place = Bulkhead(seconds=0.2)
    monkeypatch.setattr(bulkhead, "MEMORY", place)
    worker_signals.spare_the_lock()
    assert (place._threads is not None) == (connection.vendor == "sqlite")
    if connection.vendor == "sqlite":
        monkeypatch.setattr(journal, "_sealed", lambda *_: hanging.wait() and b"")
        execution.RELEASES.run(requested.pk)
        requested.refresh_from_db()
        assert requested.job.is_queued and requested.job.is_on_hold and not requested.measurement
        assert building.left(requested.dataset) < 1


@pytest.mark.django_db
def test_a_confirmation_waits_for_no_queue_that_hangs(
    draft, client, hanging, monkeypatch, django_capture_on_commit_callbacks
):
    queue = Hanging(hanging)
    monkeypatch.setattr(bulkhead, "QUEUE", queue)
    client.force_login(draft.dataset.owner)
    reviewed = services.reviewed_as(*drafts.plan_of(draft))
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(
            f"/releases/{draft.pk}/review/", {"agreed": "on", "useless": "on", "reviewed": reviewed}
        )
    assert answer.status_code == 302 and queue.calls == 1
    assert ReleaseJob.objects.get().state == JobState.QUEUED
