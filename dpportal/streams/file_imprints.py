"""The files of a stream's download in the chain of the history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dpportal.history import imprints
from dpportal.history.imprints import ImprintKind, StoredState
from dpportal.streams.models import SeriesFile, Stream

ENTRIES = ("stored", "sha256", "size", "about")


def note(stream: Stream, files: Iterable[SeriesFile]) -> None:
    """In the transaction that points at newer files. files: those, as they are in memory."""
    imprints.note_state(FILES, str(stream.pk), _rows(files))


def _rows(files: Iterable[SeriesFile]) -> StoredState:
    return {file.name: [getattr(file, name) for name in ENTRIES] for file in files}


def _states(streams: Collection[str] | None) -> Iterator[tuple[str, StoredState]]:
    rows = Stream.objects.filter(files__isnull=False).distinct().order_by("pk").only("pk")
    if streams is not None:
        rows = rows.filter(pk__in=streams)
    for stream in rows.iterator(chunk_size=100):
        yield str(stream.pk), _rows(stream.files.filter(replaced_at=None))


FILES = ImprintKind("files of stream", _states, entries=ENTRIES, earlier=[2])
imprints.declare(FILES)
