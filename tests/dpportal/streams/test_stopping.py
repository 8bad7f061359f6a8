"""Work on a stream's file that its curator stops."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.accounts.models import AuditEntry
from dpportal.jobs import claims
from dpportal.streams import execution, job_execution, services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream, StreamJob


def records_queued(stream: Stream) -> StreamJob:
    file = ContentFile(b"colour,age\nred,3\n", "march.csv")
    return services.queue_records(stream, 1, file, stream.created_by)


def counts_queued(stream: Stream) -> StreamJob:
    file = ContentFile(b"period,count\n1,5\n2,6\n3,7\n", "counts.csv")
    return services.queue_counts(stream, file, {"column": "count"}, stream.created_by, confirmed=True)


@pytest.fixture(params=[records_queued, counts_queued], ids=["records", "counts"])
def job(request, stream) -> StreamJob:
    return request.param(stream)


@pytest.fixture
def desk(client, stream):
    client.force_login(stream.created_by)
    return client


def stop(desk, stream: Stream) -> str:
    return desk.post(f"/streams/{stream.pk}/add/stop/", follow=True).content.decode()


@pytest.mark.slow
def test_it_is_offered_while_the_file_is_worked_on(desk, stream, job):
    assert f"/streams/{stream.pk}/add/stop/" in desk.get(f"/streams/{stream.pk}/live/").content.decode()
    assert "Stopped, and the file deleted" in stop(desk, stream)
    assert "add/stop" not in desk.get(f"/streams/{stream.pk}/live/").content.decode()


@pytest.mark.slow
def test_a_waiting_file_is_never_begun(django_capture_on_commit_callbacks, desk, stream, job):
    with django_capture_on_commit_callbacks(execute=True):
        stop(desk, stream)
    assert not job_execution.STREAM_JOBS.run(job.pk)
    assert not stream.periods.exists()
    assert not default_storage.exists(job.file)
    assert AuditEntry.objects.filter(action="stopped a file").count() == 1


@pytest.mark.slow
def test_a_worker_that_was_at_it_publishes_nothing_more(desk, stream, job):
    claim = claims.claim(StreamJob, job.pk)
    assert claim is not None
    execution.publish(stream.pk, [Update(1, [4], Period.Source.COUNTS)], claim=claim)
    stop(desk, stream)
    with pytest.raises(claims.LostClaimError):
        execution.publish(stream.pk, [Update(2, [4], Period.Source.COUNTS)], claim=claim)
    assert list(stream.periods.values_list("index", flat=True)) == [1]
    assert claims.claim(StreamJob, job.pk) is None


@pytest.mark.slow
def test_the_next_file_is_taken(desk, stream, job):
    stop(desk, stream)
    later = counts_queued(stream)
    job_execution.STREAM_JOBS.run(later.pk)
    assert stream.periods.count() == 3


@pytest.mark.slow
def test_what_has_ended_is_not_stopped(desk, stream, job):
    job_execution.STREAM_JOBS.run(job.pk)
    published = stream.periods.count()
    assert "has ended already" in stop(desk, stream)
    job.refresh_from_db()
    assert (job.state, stream.periods.count()) == ("done", published)


def test_nobody_stops_what_is_not_theirs(client, other_curator, stream, job):
    client.force_login(other_curator)
    assert client.post(f"/streams/{stream.pk}/add/stop/").status_code == 404
    job.refresh_from_db()
    assert job.active
