"""Many periods at once: what will be published is told before any noise is drawn, and nothing is until agreed to."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from dpportal.streams import execution, job_execution, services
from dpportal.streams.execution import Update
from dpportal.streams.measure import StreamDraftError, read_increments
from dpportal.streams.models import Period, SealedState, Stream, StreamJob
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums

SECRET = 7_041_776


def sent(stream: Stream, *lines: str, head: str = "period,count") -> StreamJob:
    """A file that its curator sent, read by a worker."""
    file = ContentFile("\n".join([head, *lines]).encode(), "counts.csv")
    return done(services.queue_counts(stream, file, {}, stream.created_by, confirmed=False))


def done(job: StreamJob) -> StreamJob:
    job_execution.STREAM_JOBS.run(job.pk)
    job.refresh_from_db()
    return job


def told(desk: Any, stream: Stream) -> dict[str, Any]:
    return desk.get(f"/streams/{stream.pk}/home/").context["preview"]


@pytest.mark.slow
def test_nothing_is_drawn_or_shown_of_a_file_before_its_curator_agrees(curious, stream) -> None:
    state = bytes(SealedState.objects.get().sealed)
    job = sent(stream, f"1,{SECRET}", "2,5")
    assert (job.state, stream.periods.count(), bytes(SealedState.objects.get().sealed)) == ("done", 0, state)
    page = curious.get(f"/streams/{stream.pk}/home/").text
    assert "Add 2 periods?" in page
    assert str(SECRET) not in page.replace(",", "") and "everything in it was added" not in page
    curious.post(f"/streams/{stream.pk}/add/file/confirm/")
    file, job = job.file, done(job)
    assert true_sums(stream.periods.all()) == [[SECRET], [SECRET + 5]]
    assert not default_storage.exists(file) and not job.file
    assert told(curious, stream) is None


@pytest.mark.slow
def test_what_is_told_is_which_periods_how_many_numbers_and_what_is_missing(curious, dataset) -> None:
    today = timezone.localdate()
    first = dt.date(today.year - 1, today.month, 1)
    stream = building.monthly_stream(dataset, first_day=first, horizon=24, split=True, cells=[])
    publish = Update(1, (1, 2, 3, 4), Period.Source.TYPED)
    execution.publish(stream.pk, [publish])
    head = "period,red,green,blue,Other"
    sent(stream, "1,1,2,3,4", *(f"{t},0,0,0,0" for t in range(2, 8)), head=head)
    found = told(curious, stream)
    label = stream.calendar.label
    assert (found["first"], found["last"], found["new"], found["repeated"]) == (label(2), label(7), 6, 1)
    assert (found["numbers"], found["left"]) == (24, 17)
    # Thirteen months have begun.
    assert (found["missing"], found["missing_first"], found["missing_last"]) == (6, label(8), label(13))


@pytest.mark.slow
def test_without_a_calendar_or_beyond_the_end_nothing_is_missing(curious, stream) -> None:
    sent(stream, *(f"{t},1" for t in range(1, 13)))
    found = told(curious, stream)
    assert (found["missing"], found["left"]) == (0, 0)


@pytest.mark.slow
def test_who_does_not_agree_has_the_file_deleted(curious, stream, django_capture_on_commit_callbacks) -> None:
    job = sent(stream, "1,5")
    with django_capture_on_commit_callbacks(execute=True):
        curious.post(f"/streams/{stream.pk}/add/file/drop/")
    assert not default_storage.exists(job.file)
    assert told(curious, stream) is None and not stream.periods.exists()


@pytest.mark.slow
def test_another_file_or_the_end_of_the_stream_takes_the_place_of_the_question(
    curious, stream, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = sent(stream, "1,5")
        second = sent(stream, "1,6", "2,7")
    assert not default_storage.exists(first.file)
    assert told(curious, stream)["new"] == 2
    with django_capture_on_commit_callbacks(execute=True):
        services.close(stream, stream.created_by)
    assert not default_storage.exists(second.file)
    curious.post(f"/streams/{stream.pk}/add/file/confirm/")
    assert not stream.periods.exists()


@pytest.mark.slow
def test_a_file_that_holds_nothing_new_asks_nothing(curious, stream) -> None:
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    job = sent(stream, "1,5")
    assert (job.state, job.asks) == ("done", False)


@pytest.mark.slow
def test_a_line_of_a_published_period_is_not_compared(curious, stream) -> None:
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    found = []
    for guess in (4, 5, 6):
        sent(stream, f"1,{guess}", "2,1")
        found.append(told(curious, stream))
    assert found[0]["repeated"] == 1 and found == [found[0]] * 3
    pasted = {"pasted": "period,count\n1,4\n", "dates": "%Y-%m-%d"}
    assert curious.post(f"/streams/{stream.pk}/add/many/", pasted).status_code == 302


@pytest.mark.slow
def test_who_sends_many_numbers_is_told_how_many_are_above_the_declared_largest(curious, dataset) -> None:
    stream = building.open_stream(dataset, largest_increment=20)
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    sent(stream, "1,99", "2,20", "3,21", "4,22")
    assert told(curious, stream)["clipped"] == 2
    assert "2 numbers, taken as 20. Check them." in curious.get(f"/streams/{stream.pk}/home/").text


@pytest.mark.slow
def test_what_was_published_meanwhile_is_not_published_twice(curious, stream) -> None:
    job = sent(stream, "1,5", "2,6")
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.PROGRAM)])
    before = stream.periods.get().released
    curious.post(f"/streams/{stream.pk}/add/file/confirm/")
    assert done(job).state == "done"
    assert stream.periods.get(index=1).released == before
    assert stream.periods.count() == 2


@pytest.mark.parametrize("head", ["period,red,Ms Secret,blue,Other", "period,red,green,Ms Secret,blue,Other"])
def test_a_value_that_is_not_listed_is_told_by_its_column_and_never_kept(dataset, head: str) -> None:
    stream = building.open_stream(dataset, split=True)
    job = sent(stream, ",".join("1" for _ in head.split(",")), head=head)
    place = head.split(",").index("Ms Secret") + 1
    assert f"Line 1: what column {place} is called" in job.failure
    assert "red, green, blue, Other" in job.failure
    assert "Secret" not in job.failure


def test_values_that_are_lacking_are_named(dataset) -> None:
    stream = building.open_stream(dataset, split=True)
    assert sent(stream, "1,2,3", head="period,red,green").failure.endswith("Missing: blue, Other.")


def test_a_program_is_told_the_place_of_a_name_that_is_not_listed(dataset) -> None:
    stream = building.open_stream(dataset, split=True)
    given = {"red": 1, "Ms Secret": 2, "green": 3, "blue": 4, "Other": 5}
    with pytest.raises(StreamDraftError, match=r"no\. 2 is no value .* red, green, blue, Other") as refusal:
        read_increments(stream, given)
    assert "Secret" not in str(refusal.value)
