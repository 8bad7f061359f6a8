"""Kept answers to how a table fits its declaration: they hold true numbers and texts of the table."""

from __future__ import annotations

from uuid import UUID

from django.core.files.storage import default_storage

from dpportal.datasets import records, sealing
from dpportal.datasets.record_files import stored_json
from dpportal.tables.fit import TableFit

# Begins the names of their files.
FIT = "fit-"


def keep(dataset_id: UUID, digest: str, result: TableFit) -> None:
    """Store the answer to what was asked."""
    sealing.keep_json(name_of(dataset_id, digest), result.to_json())


def stored(dataset_id: UUID, digest: str) -> TableFit | None:
    """What `keep` stored, or None."""
    fit = stored_json(name_of(dataset_id, digest))
    return None if fit is None else TableFit.from_json(fit)


def forget(dataset_id: UUID, digest: str) -> None:
    """Delete how the rows fitted one declaration."""
    default_storage.delete(name_of(dataset_id, digest))


def name_of(dataset_id: UUID, digest: str) -> str:
    """Where the answer to what was asked lies."""
    return f"{records.folder(dataset_id)}/{FIT}{digest}.json"
