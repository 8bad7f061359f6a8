"""People's records in the portal's private storage. All that holds true values of a dataset lies in one folder,
`records/<dataset>/`, so that erasing it erases everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.core.files.storage import default_storage

from dpportal import storage
from dpportal.datasets import rawdata
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.datasets.rawdata.faults import lacks_columns
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.table import TableFacts
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real


@dataclass(frozen=True)
class StoredTable:
    """Where a converted table lies, and what is known of it."""

    name: str
    facts: TableFacts


def folder(dataset_id: UUID) -> str:
    return f"records/{dataset_id}"


def convert(dataset: Dataset, on_progress: Callable[[int, int | None], None]) -> StoredTable:
    """Read a dataset's upload into a stored Parquet table. Raises UploadFault if it cannot be a table."""
    options = ReadOptions.from_json(dataset.options)
    with storage.local_path(dataset.upload) as source, storage.scratch_folder() as scratch:
        target = scratch / "table.parquet"
        facts = rawdata.convert(source, target, dataset.file_name, options, on_progress)
        name, _digest = storage.keep_by_digest(target, folder(dataset.pk))
    return StoredTable(name, facts)


def first_rows(table: str, rows: int) -> list[list[str | None]]:
    """The first rows as text, for the curator only."""
    with storage.local_path(table) as path:
        return rawdata.first_rows(path, rows)


def suggested_attribute(table: str, column: str) -> Attribute:
    """A declaration taken from the data: NOT private; only after the curator vouched that it is public."""
    with storage.local_path(table) as path:
        found = rawdata.suggest(path, column)
    return _attribute(column, found)


def count(dataset: Dataset, version: DomainVersion, domain: Domain, key: bytes) -> np.ndarray:
    """True counts of the domain's cells, (domain.size,) int64, with at most `max_rows` rows of each person."""
    with storage.local_path(dataset.table) as path:
        return rawdata.count_cells(
            path, domain, unit_column=version.unit_column or None, max_rows=version.max_rows, key=key
        )


def count_upload(
    name: str,
    file_name: str,
    options: ReadOptions,
    domain: Domain,
    on_progress: Callable[[int, int | None], None],
) -> np.ndarray:
    """True counts of the domain's cells in a stored upload that does not become a table, (domain.size,) int64.

    Raises UploadFault if it cannot be read or lacks a column of the domain.
    """
    with storage.local_path(name) as source, storage.scratch_folder() as scratch:
        table = scratch / "table.parquet"
        facts = rawdata.convert(source, table, file_name, options, on_progress)
        if not set(domain.names) <= {column.name for column in facts.columns}:
            raise lacks_columns(domain.names)
        return rawdata.count_cells(table, domain)


def keep_counts(dataset_id: UUID, counts: np.ndarray) -> str:
    """Store true counts for the curator's compare page; returns the name."""
    with storage.scratch_folder() as scratch:
        path = scratch / "counts.npy"
        np.save(path, counts)
        return storage.keep_by_digest(path, folder(dataset_id))[0]


def kept_counts(name: str) -> np.ndarray:
    with storage.local_path(name) as path:
        return np.load(path)


def keep_comparison(dataset_id: UUID, release_id: UUID, comparison: dict[str, Any]) -> None:
    """Store what the compare page shows; it holds true counts."""
    with storage.scratch_folder() as scratch:
        path = scratch / "comparison.json"
        path.write_text(json.dumps(comparison))
        storage.keep(path, _comparison_name(dataset_id, release_id))


def comparison(dataset_id: UUID, release_id: UUID) -> dict[str, Any] | None:
    """What `keep_comparison` stored, or None if the records were erased since."""
    name = _comparison_name(dataset_id, release_id)
    if not default_storage.exists(name):
        return None
    with default_storage.open(name) as file:
        return json.load(file)


def erase(dataset: Dataset) -> None:
    """Delete every file that holds values of the dataset."""
    if dataset.upload:
        default_storage.delete(dataset.upload)
    if default_storage.exists(folder(dataset.pk)):
        _directories, files = default_storage.listdir(folder(dataset.pk))
        for file in files:
            default_storage.delete(f"{folder(dataset.pk)}/{file}")


def _comparison_name(dataset_id: UUID, release_id: UUID) -> str:
    return f"{folder(dataset_id)}/comparison-{release_id}.json"


def _attribute(column: str, found: dict[str, Any]) -> Attribute:
    kind = found["kind"]
    if kind == "text":
        return Categorical(column, True, tuple(found["values"]))
    if kind == "boolean":
        return Boolean(column, True)
    if kind == "date":
        return Date(column, True, found["lower"], found["upper"], "month")
    if kind == "integer":
        lower, upper = found["lower"], found["upper"]
        return Integer(column, True, lower, upper, width=max(1, -(-(upper - lower + 1) // 100)))
    return Real(column, True, found["lower"], found["upper"], bins=20)
