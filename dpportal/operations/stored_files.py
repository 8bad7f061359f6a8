"""Whether stored files and answers are what the portal wrote: each that was changed, swapped or lost is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from django.apps import apps
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.catalogue import thumbnails
from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.jobs import memoised
from dpportal.operations import sweeping
from dpportal.platform import storage
from dpportal.platform.sealed import UndecryptableValue
from dpportal.platform.sealing_faults import KeyMissingFault
from dpportal.platform.stored_digests import digest_of
from dpportal.publications.downloads import PublishedFile
from dpportal.releases.models import Release
from dpportal.releases.products.queries import matrices, strategies

GONE = gettext_lazy("The file %(name)s is gone.")
CHANGED = gettext_lazy("The file %(name)s was changed.")


def faults() -> Iterator[str]:
    """Each stored file that is not what it was, in a sentence. What the history has of files, `imprints` compares."""
    yield from _published()
    yield from _measured()
    yield from _named_by_content()
    yield from _records()
    yield from _pictures()
    yield from _swapped_questions()


def _published() -> Iterator[str]:
    for model in apps.get_models():
        if issubclass(model, PublishedFile):
            for file in model._default_manager.iterator(chunk_size=100):
                yield from _compared(file.stored, file.sha256)


def _measured() -> Iterator[str]:
    rows = Release.objects.exclude(measurement="").order_by("pk")
    for name, digest in rows.values_list("measurement", "measurement_sha256").iterator(chunk_size=100):
        yield from _compared(name, digest)


def _named_by_content() -> Iterator[str]:
    """Uploaded matrices and strategies: their digest is their name."""
    there = {name for folder in (matrices.FOLDER, strategies.FOLDER) for name in storage.names_under(folder)}
    for name in sorted(there | strategies.stored_names() | _matrices_of_releases()):
        yield from _compared(name, PurePosixPath(name).stem)


def _matrices_of_releases() -> set[str]:
    """A draft's matrix may be gone: it is uploaded again."""
    return sweeping.named_matrices(Release.objects.exclude(requested_at=None))


def _records() -> Iterator[str]:
    """Sealed files open as what they are named, and as nothing else, so that each is read whole."""
    for dataset in (
        Dataset.objects.exclude(state=Dataset.State.ERASED).order_by("pk").iterator(chunk_size=100)
    ):
        there = set(storage.names_under(records.folder(dataset.pk)))
        for name in sorted(there | _expected(dataset)):
            yield from _damage(name, name in there)


def _expected(dataset: Dataset) -> set[str]:
    """The files that rows of a dataset name."""
    counts = dataset.releases.exclude(true_counts="").values_list("true_counts", flat=True)
    named = (dataset.upload, dataset.table, *counts)
    return {name for name in named if name.startswith(records.folder(dataset.pk))}


def _damage(name: str, is_there: bool) -> Iterator[str]:
    try:
        if not records.is_intact(name):
            yield (CHANGED if is_there else GONE) % {"name": name}
    except KeyMissingFault as fault:
        yield f"{name}: {fault}"


def _pictures() -> Iterator[str]:
    for subject in thumbnails.changed():
        yield _("The small picture of %(name)s is not drawn from what is published.") % {"name": subject}


def _swapped_questions() -> Iterator[str]:
    for key in memoised.swapped():
        yield _("The stored question %(key)s is not the one that its key stands for.") % {"key": key}


def _compared(name: str, digest: object) -> Iterator[str]:
    if isinstance(digest, UndecryptableValue):
        text = _("The digest of %(name)s is sealed with a key that the portal does not have.")
        yield text % {"name": name}
    elif (now := digest_of(name)) != digest:
        yield (CHANGED if now else GONE) % {"name": name}
