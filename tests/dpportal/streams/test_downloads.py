"""The files of a stream: a worker writes them once for the newest period, and a request only hands them out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.db.models import F
from django.template.defaultfilters import filesizeformat
from django.test import Client

from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.jobs.claims import JobState
from dpportal.jobs.runner import JobKind
from dpportal.streams import bundle, downloads, execution, services, tasks
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, SeriesBundle, SeriesFile, Stream
from tests.dpportal import building as world
from tests.dpportal.streams import building


def _add(stream: Stream, *indexes: int) -> None:
    updates = [Update(index, (4,), Period.Source.TYPED) for index in indexes]
    execution.publish(stream.pk, updates, noise=building.repeated_noise())


def _later(**ago: float) -> None:
    """As if the last writing had ended so long ago."""
    back = timedelta(**ago)
    SeriesBundle.objects.update(finished_at=F("finished_at") - back, started_at=F("started_at") - back)


def _state() -> str:
    return SeriesBundle.objects.get().state


@pytest.fixture
def public(stream: Stream) -> Stream:
    """A published stream of two periods, whose files no worker has written yet."""
    _add(stream, 1, 2)
    services.publish(stream, stream.created_by)
    return Stream.objects.get(pk=stream.pk)


@pytest.fixture
def _nothing_is_written(public: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a request wrote a file")

    for place in ("bundle.write", "bundle.write_series", "downloads.published", "downloads.storage.keep"):
        monkeypatch.setattr(f"dpportal.streams.{place}", refuse)


@pytest.mark.slow
@pytest.mark.usefixtures("_nothing_is_written")
def test_a_request_writes_no_file_and_says_when_to_come_again(public: Stream) -> None:
    visitor = Client()
    for name in ("series.csv", "series.xlsx", bundle.archive_name(public)):
        answer = visitor.get(f"/streams/{public.pk}/download/{name}")
        assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    page = visitor.get(public.get_absolute_url())
    assert "are being written" in page.text and "/download/" not in page.text
    assert _state() == JobState.QUEUED and SeriesBundle.objects.get().fence == 0


@pytest.mark.slow
def test_who_has_a_file_is_not_sent_it_again(public: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = building.with_files(public)
    address = f"/streams/{public.pk}/download/series.csv"
    first = Client().get(address)
    [file] = [file for file in offered.files if file.name == "series.csv"]
    assert first["ETag"] == f'"{file.sha256}"' and int(first["Content-Length"]) == file.size
    assert len(b"".join(first.streaming_content)) == file.size
    monkeypatch.setattr(default_storage, "open", lambda *_: pytest.fail("the storage was asked"))
    again = Client().get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])


@pytest.mark.slow
def test_the_page_offers_what_is_written_and_each_opens(public: Stream) -> None:
    offered = building.with_files(public)
    page = Client().get(public.get_absolute_url())
    for file in offered.files:
        address = f"/streams/{public.pk}/download/{file.name}"
        assert f'href="{address}"' in page.text
        assert Client().get(address).status_code == 200
    assert "The files hold all periods" in page.text
    assert Client().get(f"/streams/{public.pk}/download/other.csv").status_code == 404


@pytest.mark.slow
def test_many_periods_in_a_short_time_are_written_once(
    public: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow this machine is: an hour is long, and no writing takes a tenth of it.
    monkeypatch.setattr(downloads, "PAUSE_SECONDS", 3600.0)
    building.with_files(public)
    address = f"/streams/{public.pk}/download/series.csv"
    for index in range(3, 7):
        _add(public, index)
        tasks.sweep()
        assert _state() == JobState.DONE
        # Meanwhile readers have the former files, and the page says how far they go.
        assert b"".join(Client().get(address).streaming_content).count(b"\n") == 3
        assert "The files hold 2 periods, up to 2; newer ones" in Client().get(public.get_absolute_url()).text
    _later(seconds=downloads.PAUSE_SECONDS)
    tasks.sweep()
    assert _state() == JobState.QUEUED
    downloads.DOWNLOADS.run(public.pk)
    assert SeriesBundle.objects.get().fence == 2
    assert b"".join(Client().get(address).streaming_content).count(b"\n") == 7


@pytest.mark.slow
def test_what_takes_long_to_write_is_written_less_often(public: Stream) -> None:
    building.with_files(public)
    SeriesBundle.objects.update(started_at=F("finished_at") - timedelta(seconds=30))
    _add(public, 3)
    _later(seconds=200)
    tasks.sweep()
    assert _state() == JobState.DONE
    _later(seconds=101)
    tasks.sweep()
    assert _state() == JobState.QUEUED


@pytest.mark.slow
def test_each_file_is_offered_with_its_size(client, public: Stream) -> None:
    sizes = [" ".join(filesizeformat(file.size).split()) for file in building.with_files(public).files]
    text = " ".join(client.get(public.get_absolute_url()).text.split())
    assert f"Download all, {sizes[0]}" in text
    listed = text[text.index('id="downloads"') :]
    assert all(f", {size}</span>" in listed for size in sizes)


@pytest.mark.slow
def test_former_files_are_there_until_the_new_ones_say_what_the_page_says(public: Stream) -> None:
    building.with_files(public)
    address, page = f"/streams/{public.pk}/download/README.md", public.get_absolute_url()
    assert "Something that these files say has changed" not in Client().get(page).text
    Dataset.objects.update(name="Another name")
    shown = Client().get(page).text
    assert "Something that these files say has changed" in shown and f'href="{address}"' in shown
    assert _state() == JobState.QUEUED
    assert b"Another name" not in b"".join(Client().get(address).streaming_content)
    SeriesBundle.objects.update(state=JobState.FAILED)
    assert Client().get(address).status_code == 503
    SeriesBundle.objects.update(state=JobState.QUEUED)
    downloads.DOWNLOADS.run(public.pk)
    assert b"Another name" in b"".join(Client().get(address).streaming_content)


@pytest.mark.slow
def test_what_was_never_public_is_in_no_file_for_readers(stream: Stream, curious) -> None:
    _add(stream, 1)
    building.with_files(stream)
    Dataset.objects.update(name="Another name")
    address = f"/streams/{stream.pk}/download/README.md"
    assert curious.get(address).status_code == 200
    services.publish(stream, stream.created_by)
    assert Client().get(address).status_code == 503
    downloads.DOWNLOADS.run(stream.pk)
    assert b"Another name" in b"".join(Client().get(address).streaming_content)


@pytest.mark.slow
def test_replaced_files_are_there_for_those_who_read_them_and_then_go(public: Stream) -> None:
    building.with_files(public)
    former = downloads.stored_names()
    _add(public, 3)
    _later(hours=1)
    building.with_files(public)
    tasks.sweep()
    assert former < downloads.stored_names() and all(map(default_storage.exists, former))
    SeriesFile.objects.exclude(replaced_at=None).update(
        replaced_at=F("replaced_at") - timedelta(seconds=downloads.REPLACED_SECONDS + 1)
    )
    tasks.sweep()
    assert not former & downloads.stored_names() and not any(map(default_storage.exists, former))
    assert all(map(default_storage.exists, downloads.stored_names()))


@pytest.mark.slow
def test_a_worker_that_fails_on_the_way_leaves_no_half_download(
    public: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all, stored = downloads.storage.keep_all, []

    def failing(files: Mapping[str, Path]) -> None:
        stored.extend(list(files)[:3])
        keep_all({name: files[name] for name in stored})
        raise OSError

    with monkeypatch.context() as broken:
        broken.setattr(downloads.storage, "keep_all", failing)
        downloads.DOWNLOADS.run(public.pk)
    assert not SeriesFile.objects.exists() and _state() == JobState.RUNNING
    # Its lease ended at once, so another worker takes it.
    downloads.DOWNLOADS.run(public.pk)
    assert _state() == JobState.DONE and SeriesFile.objects.count() > 3
    assert not downloads.stored_names() & set(stored)


@pytest.mark.slow
def test_a_database_that_does_not_let_it_go_on_uses_up_no_attempt(
    public: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise OperationalError

    with monkeypatch.context() as held:
        held.setattr(downloads, "_write", refused)
        for _ in range(settings.JOB_ATTEMPTS + 1):
            downloads.DOWNLOADS.run(public.pk)
    assert SeriesBundle.objects.get().attempts == 0
    downloads.DOWNLOADS.run(public.pk)
    assert _state() == JobState.DONE


@pytest.mark.slow
def test_files_that_the_storage_lost_are_written_again(public: Stream) -> None:
    offered = building.with_files(public)
    default_storage.delete(offered.files[1].stored)
    address = f"/streams/{public.pk}/download/{offered.files[1].name}"
    assert Client().get(address).status_code == 503
    building.with_files(public)
    assert Client().get(address).status_code == 200


def test_a_lost_message_is_sent_again_by_the_sweep(public: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    world.a_worker_lives()
    SeriesBundle.objects.update(hinted_at=F("hinted_at") - timedelta(hours=1))
    sent: list[Any] = []
    monkeypatch.setattr(JobKind, "hint", lambda _kind, pk: sent.append(pk))
    downloads.DOWNLOADS.sweep()
    assert sent == [public.pk]


@pytest.mark.slow
def test_nothing_is_written_of_what_is_not_public_unless_its_curator_looks(stream: Stream, curious) -> None:
    _add(stream, 1)
    tasks.sweep()
    assert not SeriesBundle.objects.exists()
    curious.get(stream.get_absolute_url())
    assert _state() == JobState.QUEUED


@pytest.mark.slow
def test_files_that_were_published_as_they_are_stay_when_a_name_changes(stream: Stream) -> None:
    _add(stream, 1)
    building.with_files(stream)
    services.publish(stream, stream.created_by)
    Dataset.objects.update(name="Another name")
    assert Client().get(f"/streams/{stream.pk}/download/README.md").status_code == 200


@pytest.mark.slow
def test_a_permission_that_is_taken_back_closes_the_files(public: Stream) -> None:
    said = PublicDescription.objects.create(dataset=public.dataset, text="Ours.", shown=True)
    building.with_files(public)
    address = f"/streams/{public.pk}/download/README.md"
    assert b"Ours." in b"".join(Client().get(address).streaming_content)
    said.shown = False
    said.save()
    assert Client().get(address).status_code == 503


@pytest.mark.slow
def test_of_many_periods_page_and_files_say_how_many_margins_miss(dataset, client) -> None:
    stream = building.daily_stream(dataset)
    execution.publish(stream.pk, [Update(index, (1,), Period.Source.TYPED) for index in range(1, 101)])
    stream.refresh_from_db()
    services.publish(stream, stream.created_by)
    building.with_files(stream)
    sentence = "Up to about 5 of these 100 margins miss the true number"
    addresses = [stream.get_absolute_url()]
    addresses += [f"/streams/{stream.pk}/download/{name}" for name in ("README.md", "report.html")]
    for address in addresses:
        answer = client.get(address)
        text = b"".join(answer).decode() if answer.streaming else answer.text
        assert sentence in " ".join(text.split()), address
