"""The same file for two periods is asked about, and the curator's word is recorded."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from dpportal.accounts.models import AuditEntry, User
from dpportal.datasets import services as dataset_services, sharing
from dpportal.datasets.models import Right
from dpportal.streams import job_execution, series_view, services
from dpportal.streams.models import PeriodSketch, Stream, StreamJob
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums

# Each reads files in a process of its own, as the portal does.
pytestmark = [pytest.mark.django_db, pytest.mark.slow]

COLOURS = ("red", "green", "blue")


def rows(start: int, number: int = 300, *, last: str = "") -> bytes:
    lines = [f"{COLOURS[i % 3]},{i % 90},{start + i}" for i in range(number)]
    return "\n".join(["colour,age,visit", *lines, *([last] if last else []), ""]).encode()


FIRST, NEXT = rows(0), rows(5000)


def send(stream: Stream, content: bytes, index: int, by: User | None = None) -> StreamJob:
    """by: the stream's curator, if nobody else."""
    file = ContentFile(content, f"period{index}.csv")
    return again(services.queue_records(stream, index, file, by or stream.created_by))


def again(job: StreamJob) -> StreamJob:
    job_execution.STREAM_JOBS.run(job.pk)
    return StreamJob.objects.get(pk=job.pk)


@pytest.fixture
def begun(stream) -> Stream:
    send(stream, FIRST, 1)
    assert stream.periods.count() == 1
    return stream


@pytest.fixture
def desk(client, begun) -> Client:
    client.force_login(begun.created_by)
    return client


def page(desk: Client, stream: Stream) -> str:
    return desk.get(f"/streams/{stream.pk}/home/").content.decode()


@pytest.mark.parametrize(
    "content",
    [FIRST, rows(0, 299), rows(0, last="red,5,9999"), FIRST.replace(b"visit", b"number", 1)],
    ids=["same", "a row less", "a row more", "renamed"],
)
def test_nearly_the_same_file_is_asked_about_and_nothing_is_published(begun, content) -> None:
    job = send(begun, content, 2)
    assert job.repeats == ["1"]
    assert begun.periods.count() == 1
    assert default_storage.exists(job.file)


def test_other_records_are_not_asked_about(begun) -> None:
    job = send(begun, NEXT, 2)
    assert (job.state, job.repeats, begun.periods.count()) == ("done", [], 2)
    assert send(begun, rows(9000, 3), 3).repeats == []


def test_the_same_file_of_the_same_period_is_not(begun) -> None:
    assert (send(begun, FIRST, 1).repeats, begun.periods.count()) == ([], 1)


def test_another_stream_s_files_do_not_matter(begun, dataset) -> None:
    other = building.open_stream(dataset, amount="0.2", name="Others")
    assert (send(other, FIRST, 1).repeats, other.periods.count()) == ([], 1)


def test_who_says_that_they_are_new_has_them_published_and_is_recorded(desk, begun) -> None:
    job = send(begun, FIRST, 2)
    assert "holds nearly the same rows as the file of period 1" in page(desk, begun)
    desk.post(f"/streams/{begun.pk}/add/file/confirm/")
    assert AuditEntry.objects.get(action="confirmed repeated records").detail == "period 2, like 1"
    file, job = job.file, again(job)
    assert (job.state, job.repeats, begun.periods.count()) == ("done", [], 2)
    assert true_sums(begun.periods.order_by("index")) == [[100], [200]]
    assert not default_storage.exists(file)
    assert "Are these a new period" not in page(desk, begun)


def test_who_says_that_they_are_not_has_the_file_deleted(
    desk, begun, django_capture_on_commit_callbacks
) -> None:
    job = send(begun, FIRST, 2)
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(f"/streams/{begun.pk}/add/file/drop/")
    assert not default_storage.exists(job.file)
    assert begun.periods.count() == 1
    shown = page(desk, begun)
    assert "Are these a new period" not in shown and "everything in it was added" not in shown
    assert (send(begun, NEXT, 2).repeats, begun.periods.count()) == ([], 2)


def test_a_word_is_only_taken_where_one_is_asked_for(desk, begun) -> None:
    desk.post(f"/streams/{begun.pk}/add/file/confirm/")
    send(begun, FIRST, 2)
    send(begun, NEXT, 2)  # another file came meanwhile
    desk.post(f"/streams/{begun.pk}/add/file/confirm/")
    assert not AuditEntry.objects.filter(action="confirmed repeated records").exists()
    assert begun.periods.count() == 2


def test_no_visitor_learns_of_the_question(desk, begun, client) -> None:
    services.publish(begun, begun.created_by)
    before = series_view.shown(Stream.objects.get(pk=begun.pk), QueryDict())
    send(begun, FIRST, 2)
    assert series_view.shown(Stream.objects.get(pk=begun.pk), QueryDict()) == before
    client.logout()
    assert "nearly the same" not in client.get(f"/streams/{begun.pk}/").content.decode()


@pytest.mark.parametrize("period", [2, 9], ids=["due", "not due"])
def test_who_sees_no_row_learns_of_no_guessed_row_whether_an_earlier_file_held_it(
    client, begun, other_curator, period
) -> None:
    sharing.share(begun.dataset, other_curator.username, Right.RELEASE, begun.created_by)
    client.force_login(other_curator)
    answers = []
    for guess in (b"red,6,6", b"red,6,7"):
        job = send(begun, b"colour,age,visit\n%s\n" % guess, period, other_curator)
        told = page(client, begun)
        answers.append((job.repeats, job.step, begun.periods.count()))
        assert "is not said" in told and "nearly the same rows" not in told
        services.drop_file(begun, other_curator)
    assert answers[0] == answers[1]
    send(begun, NEXT, 2, other_curator)
    services.confirm_file(begun, other_curator)
    assert (
        AuditEntry.objects.get(action="confirmed repeated records").detail
        == "period 2, not compared with others"
    )


def test_who_sees_no_row_is_asked_alike_after_a_file_without_rows(stream, other_curator) -> None:
    """Else no question would say that there was none."""
    sharing.share(stream.dataset, other_curator.username, Right.RELEASE, stream.created_by)
    send(stream, b"colour,age,visit\n", 1)
    assert stream.periods.count() == 1
    assert send(stream, NEXT, 2, other_curator).repeats == ["1"]


@pytest.mark.parametrize("real", [FIRST, NEXT], ids=["as guessed", "otherwise"])
def test_whether_an_owner_s_file_holds_what_somebody_guessed_is_not_told_by_a_question(
    client, stream, other_curator, real
) -> None:
    sharing.share(stream.dataset, other_curator.username, Right.RELEASE, stream.created_by)
    send(stream, FIRST, 1, other_curator)
    job = send(stream, real, 2)
    assert (job.repeats, job.options["compared"], stream.periods.count()) == (["1"], False, 1)
    client.force_login(other_curator)
    assert "is not said" in page(client, stream)


def test_who_owns_a_dataset_with_others_is_asked_about_rows(begun, other_curator) -> None:
    sharing.share(begun.dataset, other_curator.username, Right.OWN, begun.created_by)
    assert send(begun, FIRST, 2, other_curator).repeats == ["1"]
    assert send(begun, NEXT, 2, other_curator).repeats == []


def test_sketches_of_files_are_sealed_and_end_with_the_stream(begun, dataset) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT content FROM streams_periodsketch")
        [(content,)] = cursor.fetchall()
    assert b"digest" not in bytes(content)
    dataset_services.erase(dataset, begun.created_by)
    assert not PeriodSketch.objects.exists()


def test_sketches_of_files_end_with_the_last_period(dataset) -> None:
    stream = building.open_stream(dataset, horizon=2)
    send(stream, FIRST, 1)
    assert PeriodSketch.objects.filter(period__stream=stream).count() == 1
    send(stream, NEXT, 2)
    assert stream.periods.count() == 2 and not PeriodSketch.objects.filter(period__stream=stream).exists()


def test_a_worker_that_wakes_late_keeps_nothing_of_a_file_whose_records_are_erased(
    begun, monkeypatch
) -> None:
    keep, woken = job_execution.repeated_files.question, []

    def late(job, facts):
        """It wakes after another worker has ended the job, and the records are erased."""
        if not woken:
            woken.append(job.fence)
            StreamJob.objects.filter(pk=job.pk).update(lease_until=timezone.now())
            assert again(job).state == "done" and PeriodSketch.objects.exists()
            dataset_services.erase(begun.dataset, begun.created_by)
        return keep(job, facts)

    monkeypatch.setattr(job_execution.repeated_files, "question", late)
    send(begun, NEXT, 2)
    assert woken and not PeriodSketch.objects.exists()
