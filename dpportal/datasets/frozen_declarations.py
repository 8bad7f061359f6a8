"""A declaration that something was paid for never changes: freezing it, and its digest in the chain of the history."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import prefetch_related_objects

from dpportal.datasets.models import DomainVersion
from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError, ImprintKind, StoredState

OWN = ("dataset_id", "version", "neighbours", "unit_column", "max_rows", "ignore_case", "created_at")
OF_COLUMN = ("position", "declaration", "filled_from_data")


def freeze(version: DomainVersion, refused: type[Exception]) -> None:
    """From now on it stays as it is in memory, which is what was reviewed, whatever its rows have by now.

    In the caller's transaction, which holds the dataset's lock. Raises `refused` for one that was frozen before and is
    other than it was then, or that is not frozen any more.
    """
    try:
        if not DomainVersion.objects.filter(pk=version.pk, frozen=False).update(frozen=True):
            require_written(version)
            return
        if imprints.newest_of(DECLARATIONS, [str(version.pk)]):
            raise ForgedRowError(f"declaration {version.pk}")
    except ForgedRowError as fault:
        raise refused(str(fault)) from None
    imprints.note_state(DECLARATIONS, str(version.pk), _state(version))


def require_written(version: DomainVersion) -> None:
    """Raise ForgedRowError unless a frozen version and its columns are what the portal wrote.

    They are read here, and stay in memory: whoever declares or counts by this instance reads no others.
    """
    prefetch_related_objects([version], "attributes")
    if not imprints.says(DECLARATIONS, str(version.pk), _state(version)):
        raise ForgedRowError(f"declaration {version.pk}")


def own_facts(version: DomainVersion) -> dict[str, Any]:
    """What a version says beside its columns."""
    return {name: getattr(version, name) for name in OWN}


def _states(versions: Collection[str] | None) -> Iterator[tuple[str, StoredState]]:
    frozen = DomainVersion.objects.filter(frozen=True).order_by("pk").prefetch_related("attributes")
    if versions is not None:
        frozen = frozen.filter(pk__in=versions)
    for version in frozen.iterator(chunk_size=100):
        yield str(version.pk), _state(version)


def _state(version: DomainVersion) -> StoredState:
    columns = {
        f"column {attribute.column}": [getattr(attribute, name) for name in OF_COLUMN]
        for attribute in version.attributes.all()
    }
    return {**own_facts(version), **columns}


DECLARATIONS = ImprintKind("declaration", _states, OWN, OF_COLUMN, earlier=[2])
imprints.declare(DECLARATIONS)
