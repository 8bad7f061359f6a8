"""What the memory has of a stream goes with its end, also where it could not be reached at that moment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.platform import journal
from dpportal.streams import execution, period_journal, services, tasks
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.period_journal import DecidedError, Decision


@pytest.fixture
def published(stream) -> Stream:
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)])
    return stream


def remembered(stream: Stream) -> list[str]:
    """The names of the stream's files in the memory that have content."""
    folder = f"{period_journal.FOLDER}/{stream.pk}"
    return [name for name in journal.names(folder) if journal.recall(f"{folder}/{name}")]


def end(stream: Stream) -> None:
    services.close(stream, stream.created_by)


def erase(stream: Stream) -> None:
    dataset_services.erase(Dataset.objects.get(pk=stream.dataset_id), stream.created_by)


@pytest.mark.parametrize("act", [end, erase])
def test_true_sums_go_with_the_stream(published, act, django_capture_on_commit_callbacks):
    assert remembered(published) == ["1"]
    with django_capture_on_commit_callbacks(execute=True):
        act(published)
    assert remembered(published) == []


@pytest.mark.parametrize("act", [end, erase])
def test_they_go_once_the_memory_is_there_again(published, act, settings, django_capture_on_commit_callbacks):
    """Its disk was not mounted while somebody ended the stream or deleted the records."""
    place = Path(settings.MEMORY_DIR)
    unmounted = place.rename(place.with_name("unmounted"))
    with django_capture_on_commit_callbacks(execute=True):
        act(published)
    tasks.sweep()
    unmounted.rename(place)
    assert remembered(published) == ["1"]
    tasks.sweep()
    assert remembered(published) == []


def test_they_go_where_the_process_died_after_its_transaction(published):
    end(published)
    assert remembered(published) == ["1"]
    tasks.sweep()
    assert remembered(published) == []


def test_a_writer_that_nobody_waits_for_leaves_nothing_of_an_ended_stream(published, monkeypatch):
    """It stood still at the link of its file; its caller gave it up, and the stream ended meanwhile."""
    end(published)
    tasks.sweep()
    monkeypatch.setattr(journal, "holds", lambda name: name == journal.MARK)  # the caller asks nothing more
    with suppress(DecidedError):
        period_journal.decide(published, Decision(4, "state", ()))
    monkeypatch.undo()
    assert journal.holds(f"{period_journal.FOLDER}/{published.pk}/5")
    assert remembered(published) == []


class Killed(BaseException):
    """A process that ends at once."""


@pytest.mark.parametrize("places", [["os.link", "pathlib.Path.unlink"], ["pathlib.Path.unlink"]])
def test_what_a_killed_writer_did_not_complete_goes_too(published, places, monkeypatch):
    """It died before its file had its name, or before the other name of it was gone."""

    def killed(*_arguments: object, **_options: object) -> None:
        raise Killed

    with monkeypatch.context() as died, pytest.raises(Killed):
        for place in places:
            died.setattr(place, killed)
        execution.publish(published.pk, [Update(2, (7,), Period.Source.TYPED)])
    parts = Path(settings.MEMORY_DIR) / journal.PARTS
    assert len(list(parts.iterdir())) == 1
    end(published)
    tasks.sweep()
    assert remembered(published) == [] == list(parts.iterdir())


def test_of_a_restored_database_the_memory_keeps_what_another_one_needs(published):
    Stream.objects.filter(pk=published.pk).update(state=Stream.State.CLOSED, closed_by_restore=True)
    tasks.sweep()
    assert remembered(published) == ["1"]
    Dataset.objects.filter(pk=published.dataset_id).update(state=Dataset.State.ERASED)
    tasks.sweep()
    assert remembered(published) == []
