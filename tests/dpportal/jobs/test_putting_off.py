"""What waits and goes on by itself: post-processing that was interrupted, and every job while the disk is full."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.utils import timezone

from dpportal.budgets.models import Budget
from dpportal.jobs import claims, queues
from dpportal.jobs.claims import JobState
from dpportal.jobs.heartbeat import waited_longer
from dpportal.platform import storage
from dpportal.releases import execution, services
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.services import ReleaseError
from tests.dpportal.building import a_worker_lives


def job_of(release: Release) -> ReleaseJob:
    return ReleaseJob.objects.get(pk=release.pk)


def interrupt_three_times(release: Release) -> None:
    """When its time has come, a worker takes the job and dies, three times; then the sweep comes by."""
    ReleaseJob.objects.filter(pk=release.pk).update(hinted_at=timezone.now() - timedelta(seconds=1))
    for _ in range(3):
        assert claims.claim(ReleaseJob, release.pk) is not None
        ReleaseJob.objects.filter(pk=release.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    claims.sweep(ReleaseJob.objects.all(), lambda pk: None, execution.RELEASES.give_up)


@pytest.fixture
def put_off(requested) -> Release:
    """Measured, and then interrupted three times."""
    execution.measure(requested.pk, claims.claim(ReleaseJob, requested.pk))
    ReleaseJob.objects.filter(pk=requested.pk).update(
        attempts=0, lease_until=timezone.now() - timedelta(seconds=1)
    )
    interrupt_three_times(requested)
    requested.refresh_from_db()
    return requested


def test_it_is_put_off_and_charged_once(put_off):
    job = job_of(put_off)
    assert (job.state, job.attempts, job.put_off, job.failure) == ("queued", 0, 1, "")
    assert timedelta(seconds=50) < job.hinted_at - timezone.now() < timedelta(seconds=70)
    budget = Budget.objects.get(dataset=put_off.dataset)
    assert (budget.spent, budget.reserved) == (Decimal("0.1"), 0)


@pytest.mark.slow
def test_it_is_not_hinted_at_before_its_time_and_then_is(put_off):
    a_worker_lives()
    hints: list = []
    claims.sweep(ReleaseJob.objects.all(), hints.append, execution.RELEASES.give_up)
    assert hints == []
    ReleaseJob.objects.update(hinted_at=timezone.now() - timedelta(minutes=2))
    claims.sweep(ReleaseJob.objects.all(), hints.append, execution.RELEASES.give_up)
    assert hints == [put_off.pk]
    execution.RELEASES.run(put_off.pk)
    put_off.refresh_from_db()
    assert (put_off.state, job_of(put_off).state) == ("ready", "done")


@pytest.mark.slow
def test_nobody_takes_a_queue_for_stuck_in_which_jobs_are_put_off(put_off):
    ReleaseJob.objects.update(queued_at=timezone.now() - timedelta(days=1))
    assert not waited_longer(60, [queues.WORK])
    ReleaseJob.objects.update(hinted_at=timezone.now() - timedelta(seconds=1))
    assert waited_longer(60, [queues.WORK])


@pytest.mark.slow
def test_when_its_time_comes_no_idle_worker_takes_itself_for_deaf(put_off):
    """It waits since its time came, not since it was put off."""
    assert job_of(put_off).elapsed == timedelta(0)
    come = timedelta(hours=9)
    ReleaseJob.objects.update(queued_at=F("queued_at") - come, hinted_at=F("hinted_at") - come)
    at = job_of(put_off)
    assert at.queued_at == at.hinted_at and waited_longer(60, [queues.WORK])
    ReleaseJob.objects.update(queued_at=timezone.now(), hinted_at=timezone.now())
    assert not waited_longer(60, [queues.WORK])


@pytest.mark.slow
def test_each_time_is_twice_as_long_and_after_half_a_day_it_stops(put_off):
    for earlier in range(1, execution.PUT_OFF_AT_MOST):
        pause = job_of(put_off).hinted_at - timezone.now()
        assert pause > timedelta(seconds=0.9 * 60 * 2 ** (earlier - 1))
        interrupt_three_times(put_off)
    interrupt_three_times(put_off)
    job = job_of(put_off)
    assert (job.state, job.put_off) == ("failed", execution.PUT_OFF_AT_MOST)
    put_off.refresh_from_db()
    assert put_off.state == "measured"


@pytest.mark.slow
def test_the_page_says_when_it_goes_on_and_offers_to_go_on_now(put_off, client, curator):
    client.force_login(curator)
    page = client.get(f"/releases/{put_off.pk}/job/").content.decode()
    assert "tried again by itself at" in page and "Continue the post-processing now" in page
    assert "Cancel this job" not in page
    services.resume(put_off)
    assert job_of(put_off).hinted_at <= timezone.now()
    execution.RELEASES.run(put_off.pk)
    put_off.refresh_from_db()
    assert put_off.state == "ready"


@pytest.mark.slow
def test_what_was_measured_is_not_cancelled(put_off):
    with pytest.raises(ReleaseError):
        services.cancel(put_off)
    put_off.refresh_from_db()
    assert put_off.state == "measured"


def test_an_attempt_that_measured_nothing_is_not_put_off(requested):
    interrupt_three_times(requested)
    assert (job_of(requested).state, job_of(requested).put_off) == ("failed", 0)


@pytest.mark.slow
def test_nothing_begins_while_the_disk_is_full(requested, client, curator, monkeypatch):
    client.force_login(curator)
    address = f"/releases/{requested.pk}/job/"
    assert "nearly full" not in client.get(address).content.decode()
    monkeypatch.setattr(storage, "is_full", lambda: True)
    assert "disk is nearly full, so nothing begins" in client.get(address).content.decode()
    execution.RELEASES.run(requested.pk)
    assert (job_of(requested).state, job_of(requested).attempts) == (JobState.QUEUED, 0)
    monkeypatch.undo()
    execution.RELEASES.run(requested.pk)
    assert job_of(requested).state == JobState.DONE


def test_times_of_a_job_are_the_database_s(requested, monkeypatch):
    """A web server whose clock is a day ahead queues a job that is swept as any other."""
    ahead = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: ahead)
    ReleaseJob.objects.filter(pk=requested.pk).update(**claims.reset_fields())
    monkeypatch.undo()
    job = job_of(requested)
    assert abs(job.queued_at - timezone.now()) < timedelta(minutes=1)
    assert abs(job.hinted_at - timezone.now()) < timedelta(minutes=1)
    assert timedelta(0) <= job.elapsed < timedelta(minutes=1)
