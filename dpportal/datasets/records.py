"""People's records in the portal's private storage. All that holds true values of a dataset lies in one folder,
`records/<dataset>/`, so that erasing it erases everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from dpportal import tables as raw_tables
from dpportal.datasets import keys, remote_table, sealing
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.datasets.range_declaration import attribute_of_range
from dpportal.datasets.record_files import (
    FileFacts,
    described,
    is_intact as is_intact,
    opened,
    own_table,
    own_upload,
    piece as piece,
    stored_json,
    waiting_lines as waiting_lines,
)
from dpportal.platform import storage
from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.platform.records_guard import FOLDER
from dpportal.platform.sealed_files import FilePath, SealedPath, new_key
from dpportal.tables import Column, Persons, ValueTexts, proposals
from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.faults import SourceFault, UploadFault, lacks_columns
from dpportal.tables.fit import TableFit
from dpportal.tables.formats.import_process import ImportContext, Progress
from dpportal.tables.meaning import python_semantics
from dpportal.tables.meaning.parse_options import Limits, ReadOptions
from dpportal.tables.proposals import MOST_TEXTS
from dpportal.tables.pushdown.types import not_exact
from mechanisms.domain import Attribute, Domain

if TYPE_CHECKING:
    from dpportal.tables.connections.counting import Schema
    from dpportal.tables.undeclared_values import PeopleByValue

LOOK = "look-"  # begins the names of files with a look at the lines of an upload
MOST_LOOKS = 8  # that are kept of a dataset
LOOK_SECONDS = 20.0  # while the curator waits
# Faults of a file that has nothing, not even names, or in which nothing is a row.
WITHOUT_ROWS = ("empty", "no-rows")


@dataclass(frozen=True)
class StoredTable:
    """Where a converted table lies, and what is known of it."""

    name: str
    facts: TableFacts


def _limits() -> Limits:
    """The limits of reading: of a file that unfolds, a thirty-second of the largest upload is always read."""
    return Limits(
        unfolded_bytes=settings.MAX_UPLOAD_BYTES // 32,
        free_bytes=settings.MIN_FREE_BYTES,
        seconds=settings.CONVERSION_SECONDS,
    ).of_threads(settings.THREADS)


def folder(dataset_id: UUID) -> str:
    """Where the private files of a dataset lie."""
    return f"{FOLDER}/{dataset_id}"


def seal(name: str) -> bool:
    """Seal a stored file under its own name, in one step; False if it is. Raises StorageFault."""
    with opened(name) as source:
        if isinstance(source, SealedPath):
            return False
        with source.open("rb") as file:
            sealing.keep_upload(name, File(file))
    return True


def take_in(dataset: Dataset) -> None:
    """Seal an upload that a browser sent to the bucket itself, or that an earlier version kept as it came."""
    name = dataset.upload
    with opened(name) as source:
        if isinstance(source, SealedPath):
            return
        new = storage.random_name(folder(dataset.pk), sealing.ORIGINAL)
        with source.open("rb") as file:
            sealing.keep_upload(new, File(file))
    if Dataset.objects.filter(pk=dataset.pk, upload=name).update(upload=new):
        dataset.upload = new
        default_storage.delete(name)
    else:
        default_storage.delete(new)


def options_of(dataset: Dataset) -> ReadOptions:
    """How its files are read: what is declared, and until its first file was read what is left to propose."""
    return ReadOptions.from_json(dataset.options)


def convert(dataset: Dataset, on_progress: Progress, sketch_key: bytes) -> StoredTable:
    """Read a dataset's upload into a stored Parquet table and sketch it. Raises UploadFault if it cannot be a table."""
    with own_upload(dataset) as source, storage.scratch_folder() as scratch:
        name = storage.random_name(folder(dataset.pk), ".parquet")
        target = SealedPath(scratch / "table.parquet", keys.for_writing(dataset.pk), name)
        context = ImportContext(on_progress, sketch_key)
        facts = raw_tables.convert(source, target, dataset.file_name, options_of(dataset), _limits(), context)
        storage.keep(target.path, name)
    return StoredTable(name, facts)


def content_digest(source: FilePath) -> str:
    """By which the table of a file is known that is no upload. Raises UploadFault if it is no table."""
    with storage.scratch_folder() as scratch:
        target = SealedPath(scratch / "table.parquet", new_key(), "scratch")
        return raw_tables.convert(source, target, source.name, None, _limits()).content_digest


def look(dataset: Dataset, options: ReadOptions) -> FileLook:
    """How a dataset's upload begins and ends, for its owner only; what was read once by these options is kept.

    Raises UploadFault if it cannot be read so far.
    """
    name = f"{folder(dataset.pk)}/{LOOK}{json_digest([dataset.upload, options.to_json()])}.json"
    if stored := stored_json(name):
        return FileLook.from_json(stored)
    limits = replace(_limits(), seconds=LOOK_SECONDS)
    with own_upload(dataset) as source, storage.scratch_folder() as scratch:
        seen = raw_tables.look(source, dataset.file_name, options, limits, scratch)
    for old in [n for n in storage.names_under(folder(dataset.pk)) if f"/{LOOK}" in n][: 1 - MOST_LOOKS]:
        default_storage.delete(old)
    sealing.keep_json(name, seen.to_json())
    return seen


def remote_schema(dataset: Dataset) -> Schema:
    """Columns and types of a dataset's table where it lies; no row is read. Raises SourceFault."""
    from dpportal.tables.connections import counting

    assert dataset.source is not None
    return counting.look(dataset.source)


def cannot_count(dataset: Dataset, attribute: Attribute) -> str:
    """Why a column of a table elsewhere cannot be counted so; empty if it can, and for every upload."""
    types = {column["name"]: column.get("type", "") for column in dataset.columns}
    return not_exact(types.get(attribute.column, ""), attribute)


def proposed_columns(dataset: Dataset, options: ReadOptions) -> tuple[Column, ...]:
    """The columns with the kinds that the first rows look like under other options."""
    _require_here(dataset)
    rows = first_rows(dataset, MOST_TEXTS)
    columns = [[row[place] for row in rows] for place in range(len(dataset.columns))]
    return proposals.proposed_columns([c["name"] for c in dataset.columns], columns, options.settled())


def first_rows(dataset: Dataset, rows: int) -> list[list[str | None]]:
    """The first rows as text, for the curator only."""
    with own_table(dataset) as path:
        return raw_tables.first_rows(path, rows)


def persons_in_first_rows(dataset: Dataset, version: DomainVersion) -> tuple[int, int]:
    """How many persons the first rows have by the declared rule, and how many rows these are. For the curator only."""
    _require_here(dataset)
    place = [c["name"] for c in dataset.columns].index(version.unit_column)
    rows = first_rows(dataset, MOST_TEXTS)
    options = options_of(dataset).settled()
    persons = {
        python_semantics.person_of(row[place], ignore_case=version.ignore_case, options=options)
        for row in rows
    }
    return len(persons - {None}), len(rows)


def suggested_attribute(dataset: Dataset, column: str) -> Attribute:
    """A declaration taken from the data: NOT private; only after the curator vouched that it is public."""
    _require_here(dataset)
    with own_table(dataset) as path:
        result = raw_tables.suggest(path, column, options_of(dataset))
    return attribute_of_range(column, result)


def count(
    dataset: Dataset, version: DomainVersion, domain: Domain, key: bytes, *, within: Domain | None = None
) -> np.ndarray:
    """True counts of the domain's cells, (domain.size,) int64, with at most `max_rows` rows of each person.

    within: the release's whole domain, any of whose closed columns leaves a row out.
    """
    if dataset.is_remote:
        return _count_remotely(dataset, version, within or domain, [domain.names])
    others = within.attributes if within else ()
    further = [a for a in others if a.leaves_out and a.name not in domain.names]
    with own_table(dataset) as path:
        return raw_tables.count_cells(
            path, domain, options_of(dataset), persons=persons_of(version), key=key, further=further
        )


def count_tables(
    dataset: Dataset, version: DomainVersion, domain: Domain, tables: Sequence[Sequence[str]], key: bytes
) -> np.ndarray:
    """True counts of tables of some of the domain's columns each, one after the other, int64, in one pass.

    At most `max_rows` rows of each person count, the same in every table; none that a column of the domain leaves out.
    """
    if dataset.is_remote:
        return _count_remotely(dataset, version, domain, tables)
    with own_table(dataset) as path:
        return raw_tables.count_tables(
            path, domain, tables, options_of(dataset), persons=persons_of(version), key=key
        )


def count_each(
    dataset: Dataset, version: DomainVersion, domain: Domain, tables: Sequence[Sequence[str]], key: bytes
) -> list[np.ndarray]:
    """The same tables and rows as `count_tables`, each by itself, and each in a pass of its own over an upload."""
    if not dataset.is_remote:
        return [count(dataset, version, domain.project(columns), key, within=domain) for columns in tables]
    sizes = [domain.project(columns).size for columns in tables]
    return np.split(count_tables(dataset, version, domain, tables, key), np.cumsum(sizes)[:-1])


def people_by_value(
    dataset: Dataset, version: DomainVersion, column: str, values: ValueTexts, key: bytes
) -> Iterator[PeopleByValue]:
    """How many people have each text of a column that is a value; of each person `max_rows` texts."""
    _require_here(dataset)
    options, persons = options_of(dataset), persons_of(version)
    with own_table(dataset) as path:
        yield from raw_tables.people_by_value(path, column, values, options, persons=persons, key=key)


def power_sums(
    dataset: Dataset, version: DomainVersion, groups: Domain, readings: Sequence[Attribute], key: bytes
) -> np.ndarray:
    """Exact power sums of columns by groups, (columns, groups, 6) Python integers: `moments.mechanism.POWERS`.

    readings: their cells are added up; the last is for missing values. At most `max_rows` rows of each person count,
    the same for every column; none that a column of the groups leaves out.
    """
    options, persons = options_of(dataset), persons_of(version)
    if dataset.is_remote:
        from dpportal.tables.connections import counting

        summed = counting.power_sums(remote_table.count_request(dataset), groups, readings, options, persons)
        return remote_table.noted(dataset, summed)
    with own_table(dataset) as path:
        return raw_tables.power_sums(path, groups, readings, options, persons=persons, key=key)


def cell_sums(
    dataset: Dataset, version: DomainVersion, domain: Domain, tables: Sequence[tuple[Sequence[str], str]]
) -> np.ndarray:
    """(cells, 3) rows, Σv and Σv² of each cell of a table elsewhere, Python integers; all of the same rows.

    tables: of some columns of the domain each, with the one whose cell v is added up, or an empty name.
    """
    from dpportal.tables.connections import counting

    remote_table.check_cells(domain, [columns for columns, _added in tables])
    request = remote_table.count_request(dataset)
    options, persons = options_of(dataset), persons_of(version)
    return remote_table.noted(dataset, counting.cell_sums(request, domain, tables, options, persons))


def _count_remotely(
    dataset: Dataset, version: DomainVersion, domain: Domain, tables: Sequence[Sequence[str]]
) -> np.ndarray:
    """One query, so that the same rows of a person are in every table, and notes when it read them.

    No key of the portal leaves it: the other engine draws the rows itself.
    """
    # Jobs that speak to other engines load this, and the portal does not at its start.
    from dpportal.tables.connections import counting

    remote_table.check_cells(domain, tables)
    request = remote_table.count_request(dataset)
    options, persons = options_of(dataset), persons_of(version)
    return remote_table.noted(dataset, counting.count_tables(request, domain, tables, options, persons))


def _require_here(dataset: Dataset) -> None:
    if dataset.is_remote:
        text = _("No row of a table that lies elsewhere comes to the portal; only counts do.")
        raise SourceFault("rows", text)


def some_rows(dataset: Dataset, domain: Domain, most: int) -> np.ndarray:
    """(n, columns) cells of at most so many rows of the table, drawn at random. For what the curator alone is shown."""
    _require_here(dataset)
    assert isinstance(dataset.rows, int)
    with own_table(dataset) as path:
        return raw_tables.sample_cells(path, domain, options_of(dataset), rows=dataset.rows, most=most)


def packed_rows(dataset: Dataset, version: DomainVersion, domain: Domain, key: bytes) -> np.ndarray:
    """The rows that `count_tables` counts, given the same key, as `WholeRows` packs them, in no order."""
    _require_here(dataset)
    with own_table(dataset) as path:
        return raw_tables.packed_rows(path, domain, options_of(dataset), persons=persons_of(version), key=key)


def fit(
    dataset: Dataset, version: DomainVersion, domain: Domain, on_progress: Callable[[int, int | None], None]
) -> TableFit:
    """True numbers of what does not fit the domain, for the curator only; of a table elsewhere no texts with them."""
    if dataset.is_remote:
        from dpportal.tables.connections import counting

        return counting.fit(
            remote_table.count_request(dataset), domain, options_of(dataset), persons_of(version)
        )
    with own_table(dataset) as path:
        return raw_tables.fit_table(path, domain, options_of(dataset), persons_of(version), on_progress)


def persons_of(version: DomainVersion) -> Persons | None:
    """Whose rows belong together; None where each row is a person's."""
    column = version.unit_column
    return Persons(column, version.max_rows, version.ignore_case) if column else None


def count_upload(
    dataset: Dataset, name: str, file_name: str, domain: Domain, on_progress: Progress, sketch_key: bytes
) -> tuple[np.ndarray, TableFacts]:
    """True counts of the domain's cells in a further file of the dataset's records, (domain.size,) int64.

    With them what is known of the file, for the curator. It is read as the dataset declares. A row that cannot be read
    is left out, and a file without rows counts nobody. Raises UploadFault if it is no table, or lacks a column.
    """
    options = options_of(dataset).settled()
    with opened(name) as source, storage.scratch_folder() as scratch:
        table = SealedPath(scratch / "table.parquet", new_key(), "scratch")
        own_format = dataset.facts.get("format", "")
        context = ImportContext(on_progress, sketch_key, len(dataset.columns), own_format)
        try:
            facts = raw_tables.convert(source, table, file_name, options, _limits(), context)
        except UploadFault as fault:
            if fault.code not in WITHOUT_ROWS:
                raise
            return np.zeros(domain.size, dtype=np.int64), TableFacts(0, (), "csv", options)
        if not set(domain.read) <= {column.name for column in facts.columns}:
            raise lacks_columns(domain.read)
        if not facts.rows:
            return np.zeros(domain.size, dtype=np.int64), facts
        return raw_tables.count_cells(table, domain, options), facts


def keep_counts(dataset_id: UUID, counts: np.ndarray, beginning: str) -> str:
    """Store true counts for the curator's compare page, in a file whose name begins so; returns the name."""
    name = storage.random_name(folder(dataset_id), ".npy", beginning)
    return sealing.keep(name, lambda target: np.save(target, counts))


def stored_counts(name: str) -> np.ndarray:
    """What `keep_counts` stored."""
    with opened(name) as path, path.open("rb") as file:
        return np.asarray(np.load(file, allow_pickle=False))


def keep_comparison(dataset_id: UUID, release_id: UUID, comparison: Json) -> None:
    """Store what the compare page shows; it holds true counts."""
    sealing.keep_json(comparison_name(dataset_id, release_id), comparison)


def comparison(dataset_id: UUID, release_id: UUID) -> Json | None:
    """What `keep_comparison` stored, or None if the records were erased since."""
    return stored_json(comparison_name(dataset_id, release_id))


def described_files(dataset_id: UUID) -> list[FileFacts]:
    """The files of a dataset's records, as they lie there. Raises StorageFault."""
    return described(folder(dataset_id))


def erase(dataset: Dataset) -> None:
    """Delete every file that holds values of the dataset."""
    if dataset.upload:
        default_storage.delete(dataset.upload)
    storage.delete_all(folder(dataset.pk))


def comparison_name(dataset_id: UUID, release_id: UUID) -> str:
    """Where the comparison of a release is stored, if it is."""
    return f"{folder(dataset_id)}/comparison-{release_id}.json"
