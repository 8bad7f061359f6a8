"""What two browsers do to the same thing at the same moment, each in a thread with a connection of its own.

Run by the clerk. Every deed returns what does not agree afterwards; an empty list if all does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection

from dpportal.accounts.models import AuditEntry, User
from dpportal.budgets.models import Budget
from dpportal.catalogue import snapshot
from dpportal.datasets import records, services as datasets
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.releases import execution, services as releases
from dpportal.releases.models import Release
from dpportal.streams import services as streams
from dpportal.streams.models import Stream, StreamJob
from tests.dpportal import building
from tests.dpportal.streams.building import confirm, draft_stream, open_stream

ROUNDS = 4
REFUSALS = (releases.ReleaseError, streams.StreamError, datasets.DatasetError)


def publication() -> list[str]:
    """A release and a stream are published and withdrawn in four browsers at once."""
    dataset = _dataset()
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    both: list[tuple[Any, Any]] = [
        (releases, Release.objects.get(pk=release.pk)),
        (streams, open_stream(dataset)),
    ]
    troubles = []
    for room, thing in both:
        for _ in range(ROUNDS):
            deeds = [room.publish, room.withdraw] * 2
            told = at_once(*(_on(deed, thing) for deed in deeds))
            troubles += [f"{thing}: {one}" for one in told if one not in ("", "ReleaseError", "StreamError")]
            troubles += _disagreements(thing)
    return troubles


def _on(deed: Callable[..., Any], thing: Any) -> Callable[[], Any]:
    """What a browser does that has just opened the page."""
    fresh = type(thing).objects.get(pk=thing.pk)
    return lambda: deed(fresh, User.objects.get(pk=thing.created_by_id))


def _disagreements(thing: Any) -> list[str]:
    """Row, record and catalogue say the same; what is published was withdrawn before, or never published."""
    row = type(thing).objects.get(pk=thing.pk)
    lines = AuditEntry.objects.filter(
        subject=f"{thing._meta.model_name} {thing.pk}", action__in=("published", "withdrew")
    )
    acts = list(lines.order_by("pk").values_list("action", flat=True))
    found = []
    if acts != (["published", "withdrew"] * len(acts))[: len(acts)]:
        found.append(f"{thing}: the record says {acts}")
    if row.is_public != bool(acts and acts[-1] == "published"):
        found.append(f"{thing}: public {row.is_public} after {acts}")
    listed = {publication.pk for publication in snapshot.current().entries}
    if (thing.pk in listed) != row.is_public:
        found.append(f"{thing}: public {row.is_public}, in the catalogue {thing.pk in listed}")
    return found


def erasing() -> list[str]:
    """Records are erased while a release, a stream and a file of periods are asked for in another browser."""
    troubles = []
    for ask in (_ask_release, _ask_stream, _ask_periods):
        for _ in range(ROUNDS):
            dataset = _dataset()
            asked = ask(dataset)
            erased, answered = at_once(lambda d=dataset: datasets.erase(d, d.owner), asked)
            troubles += _left(dataset, erased, answered, ask.__name__)
    return troubles


def _ask_release(dataset: Dataset) -> Callable[[], Any]:
    draft = building.complete_draft(dataset)
    return lambda: building.confirm(draft)


def _ask_stream(dataset: Dataset) -> Callable[[], Any]:
    draft = draft_stream(dataset)
    return lambda: confirm(draft)


def _ask_periods(dataset: Dataset) -> Callable[[], Any]:
    stream = open_stream(dataset)
    file = ContentFile(b"period,count\n1,5\n", "counts.csv")
    return lambda: streams.queue_counts(stream, file, {}, dataset.owner, confirmed=True)


def _left(dataset: Dataset, erased: str, answered: str, what: str) -> list[str]:
    """Either the records are gone, with no file, job or reservation left, or the job waits and nothing is gone."""
    found = [
        f"{what}: {told}" for told in (erased, answered) if told not in ("", *(r.__name__ for r in REFUSALS))
    ]
    dataset.refresh_from_db()
    waiting = (JobState.QUEUED, JobState.RUNNING)
    active = Release.objects.filter(dataset=dataset, job__state__in=waiting).count()
    active += StreamJob.objects.filter(stream__dataset=dataset, state__in=waiting).count()
    if dataset.state == Dataset.State.ERASED:
        reserved = Budget.objects.get(dataset=dataset).reserved
        files = _files(dataset)
        unfinished = Stream.objects.filter(dataset=dataset, state=Stream.State.OPENING).count()
        # An opening that still waited is cancelled with the records: it was asked for, and nothing came of it.
        openings = StreamJob.objects.filter(stream__dataset=dataset, kind=StreamJob.Kind.OPEN)
        heard = answered or openings.filter(state=JobState.CANCELLED).exists()
        if active or reserved or files or unfinished or not heard:
            found.append(
                f"{what}: erased with {active} jobs, {reserved} reserved, files {files}, told {answered!r}"
            )
    elif erased != "DatasetError" or not active:
        found.append(f"{what}: kept with {active} jobs, told {erased!r}")
    return found


def _files(dataset: Dataset) -> list[str]:
    try:
        return list(default_storage.listdir(records.folder(dataset.pk))[1])
    except FileNotFoundError:
        return []


def at_once(*deeds: Callable[[], Any]) -> list[str]:
    """Do all in threads that start together; the name of what each raised, or nothing."""
    told = [""] * len(deeds)
    start = threading.Barrier(len(deeds))

    def run(place: int) -> None:
        try:
            connection.ensure_connection()
            start.wait()
            deeds[place]()
        except Exception as error:
            told[place] = type(error).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(deeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def _dataset() -> Dataset:
    """A table of its own with ε = 5."""
    curator = User.objects.get(username="curator")
    number = Dataset.objects.count()
    stored = building.stored_dataset(curator, f"Rivals {number}")
    return building.granted(stored, User.objects.get(username="administrator"), "5")
