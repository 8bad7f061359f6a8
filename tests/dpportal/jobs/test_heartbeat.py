"""Signs of life, and the worker that no longer hears anything."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import queues
from dpportal.jobs.heartbeat import FreePlaceTimer, HeartbeatThread, IdleTimer
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.queues import CONVERSIONS, WORK
from dpportal.releases.models import ReleaseJob

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=1)


def waiting_since_yesterday(release) -> None:
    ReleaseJob.objects.filter(pk=release.pk).update(queued_at=timezone.now() - LONG_AGO)


def idle_for(seconds: float, *queues: str) -> IdleTimer:
    idle = IdleTimer(queues)
    idle.since = time.monotonic() - seconds
    return idle


def test_a_process_that_beats_is_alive_until_it_ends():
    pulse = HeartbeatThread(Heartbeat.Kind.WORKER)
    pulse.beat()
    pulse.beat()
    [row] = Heartbeat.alive("worker")
    assert row.is_alive and abs(row.clock_ahead) < 5 and not row.clock_is_off
    assert not Heartbeat.alive("sweep").exists()
    pulse.end()
    assert not Heartbeat.objects.exists()


def test_a_process_that_fell_silent_is_not_alive():
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    Heartbeat.objects.update(seen_at=timezone.now() - timedelta(seconds=61))
    assert not Heartbeat.alive("worker").exists()
    assert not Heartbeat.objects.get().is_alive


def test_a_clock_that_is_off_is_told(monkeypatch):
    import datetime as dt

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(timezone, "now", lambda: dt.datetime.now(dt.UTC) + LONG_AGO)
        HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    row = Heartbeat.objects.get()
    assert row.clock_is_off and row.is_alive
    assert row.clock_ahead == pytest.approx(LONG_AGO.total_seconds(), abs=5)


def test_an_idle_worker_is_deaf_if_a_job_waits_and_it_heard_of_nothing(requested):
    assert not idle_for(1000, WORK).deaf()
    waiting_since_yesterday(requested)
    assert idle_for(1000, WORK).deaf()
    assert not idle_for(10, WORK).deaf()


def test_a_worker_is_not_deaf_to_what_waits_in_a_queue_of_others(dataset, requested):
    waiting_since_yesterday(requested)
    assert not idle_for(1000, CONVERSIONS).deaf()
    ReleaseJob.objects.update(state="done")
    Conversion.objects.update(state="queued", queued_at=timezone.now() - LONG_AGO)
    assert not idle_for(1000, WORK).deaf()
    assert idle_for(1000, CONVERSIONS).deaf() and idle_for(1000, *queues.NAMES).deaf()


def test_a_file_that_waits_for_its_owner_s_other_one_makes_nobody_deaf(dataset):
    """One owner's files are read one at a time, so no idle worker gets the next one's message."""
    Conversion.objects.update(state="queued", queued_at=timezone.now() - LONG_AGO)
    other = Dataset.objects.create(owner=dataset.owner, name="Other")
    soon = timezone.now() + timedelta(seconds=20)
    read = Conversion.objects.create(dataset=other, state="running", lease_until=soon)
    assert not idle_for(1000, CONVERSIONS).deaf()
    Conversion.objects.filter(pk=read.pk).update(state="done")
    assert idle_for(1000, CONVERSIONS).deaf()


def test_a_beat_says_what_a_worker_listens_to_and_whether_it_is_busy():
    idle = IdleTimer([WORK])
    pulse = HeartbeatThread(Heartbeat.Kind.WORKER, [WORK, CONVERSIONS], busy=idle.busy)
    pulse.beat()
    assert Heartbeat.objects.filter(queues=[WORK, CONVERSIONS], busy=False).exists()
    idle.begin()
    pulse.beat()
    assert Heartbeat.objects.get().busy


def test_a_busy_worker_is_not_deaf(requested):
    waiting_since_yesterday(requested)
    busy = idle_for(1000, WORK)
    busy.begin()
    assert not busy.deaf()
    busy.end()
    assert not busy.deaf()


def test_a_pool_is_deaf_if_a_place_was_free_all_the_time_that_a_job_waits(requested):
    tasks = 1
    pool = FreePlaceTimer([WORK], lambda: tasks, places=2)
    pool.since -= 1000
    assert not pool.deaf() and not pool.busy()
    waiting_since_yesterday(requested)
    assert pool.deaf()
    tasks = 2
    assert pool.busy() and not pool.deaf()
    tasks = 0
    assert not pool.deaf()  # it had no place free a moment ago
