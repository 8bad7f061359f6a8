"""The files of a release in the chain of the history: its bundle, its public page, and the estimates beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from dpportal.history import imprints
from dpportal.history.imprints import ImprintKind, StoredState
from dpportal.platform.stored_digests import digest_of
from dpportal.releases import results
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products.shared import stored_estimates

ENTRIES = ("stored", "sha256", "size", "about")


def loose_files(release: Release) -> dict[str, str]:
    """The digests of the files that no row points to; read while no row is locked."""
    return {name: digest for name in names_without_rows(release) if (digest := digest_of(name))}


def names_without_rows(release: Release) -> set[str]:
    """What these files are called, whether they are there or not."""
    return {results.page_name(release), *stored_estimates.stored_names(release)}


def note(release: Release, files: Iterable[Artifact], loose: Mapping[str, str]) -> None:
    """In the transaction that points at the files of the bundle. files: those, as they are in memory."""
    imprints.note_state(FILES, str(release.pk), {**_rows(files), **loose})


def _rows(files: Iterable[Artifact]) -> dict[str, object]:
    return {file.name: [getattr(file, name) for name in ENTRIES] for file in files}


def _states(releases: Collection[str] | None) -> Iterator[tuple[str, StoredState]]:
    rows = Release.objects.filter(artifacts__isnull=False).distinct().order_by("pk")
    rows = rows.only("pk", "result").prefetch_related("artifacts")
    if releases is not None:
        rows = rows.filter(pk__in=releases)
    for release in rows.iterator(chunk_size=100):
        yield str(release.pk), {**_rows(release.artifacts.all()), **loose_files(release)}


FILES = ImprintKind("files of release", _states, entries=ENTRIES, earlier=[2])
imprints.declare(FILES)
