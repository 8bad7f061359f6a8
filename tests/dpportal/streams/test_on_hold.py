"""While charges are missing after a restore, the jobs of streams wait for an administrator, as releases do."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from dpportal.budgets import charge_journal, charge_places
from dpportal.budgets.models import LedgerEntry
from dpportal.jobs.claims import JobState
from dpportal.operations import restore_check
from dpportal.platform import journal
from dpportal.streams import job_execution, period_journal, services
from dpportal.streams.models import Stream, StreamJob
from tests.dpportal.streams.building import HALVES, open_stream, requested_stream

pytestmark = pytest.mark.django_db


@pytest.fixture
def jobs(dataset) -> list[StreamJob]:
    """A stream that is to be opened, and an open one with a file of periods; then a charge is missing."""
    opened = open_stream(dataset, amount=HALVES[0])
    to_open = requested_stream(dataset, amount=HALVES[1]).jobs.get()
    file = ContentFile(b"period,count\n1,5\n2,3\n", "counts.csv")
    to_publish = services.queue_counts(opened, file, {}, dataset.owner, confirmed=True)
    charge = replace(charge_journal.charge_of(opened.charge), key=uuid4().hex, amount="0.1")
    charge_places.take(dataset.pk, charge.key)
    assert journal.create(f"charges/{dataset.pk}/{charge.key}", asdict(charge))
    return [to_open, to_publish]


def work_on(jobs: list[StreamJob]) -> list[tuple[str, str]]:
    for job in jobs:
        job_execution.STREAM_JOBS.run(job.pk)
        job.refresh_from_db()
    return [(job.state, job.failure) for job in jobs]


@pytest.mark.slow
def test_they_wait_and_say_so_and_go_on_once_the_charges_are_entered(jobs, dataset, administrator, client):
    assert work_on(jobs) == [(JobState.QUEUED, ""), (JobState.QUEUED, "")]
    to_open, to_publish = jobs
    assert to_open.stream.periods.count() == 0 and to_open.hinted_at > to_open.stream.requested_at
    client.force_login(dataset.owner)
    for job in jobs:
        page = client.get(f"/streams/{job.stream_id}/home/").content.decode()
        assert "This waits for an administrator" in page
    restore_check.enter_missing(dataset.pk, administrator)
    assert work_on(jobs) == [(JobState.DONE, ""), (JobState.DONE, "")]
    assert Stream.objects.get(pk=to_open.stream_id).is_open
    assert to_publish.stream.periods.count() == 2
    assert {str(line.state) for line in LedgerEntry.objects.filter(kind="charge")} == {"spent"}


@pytest.mark.slow
def test_a_stream_that_was_paid_for_is_opened_though_its_workers_died(dataset):
    """Killed each time between the memory's charge and the commit: what is paid for is not given up."""
    job = requested_stream(dataset).jobs.get()
    charge_journal.settle(job.stream.charge, {})
    ended = timezone.now() - timedelta(minutes=1)
    StreamJob.objects.update(state=JobState.RUNNING, attempts=3, lease_until=ended)
    job_execution.STREAM_JOBS.sweep()
    job.refresh_from_db()
    assert job.state == JobState.QUEUED and job.stream.state == Stream.State.OPENING
    StreamJob.objects.update(hinted_at=ended)
    assert work_on([job]) == [(JobState.DONE, "")]
    stream = Stream.objects.get()
    assert stream.is_open and stream.charge.state == LedgerEntry.State.SPENT


@pytest.mark.slow
def test_a_file_waits_while_the_memory_is_gone(dataset, monkeypatch):
    stream = open_stream(dataset)
    file = ContentFile(b"period,count\n1,5\n2,3\n", "counts.csv")
    job = services.queue_counts(stream, file, {}, dataset.owner, confirmed=True)

    def gone(*_: object, **__: object) -> None:
        raise journal.MemoryFaultError("It is not there.")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(period_journal, "decide", gone)
        assert work_on([job]) == [(JobState.QUEUED, "")]
    StreamJob.objects.filter(pk=job.pk).update(hinted_at=timezone.now())
    assert work_on([job]) == [(JobState.DONE, "")] and stream.periods.count() == 2
