"""The conversion of an upload, run by a worker: read, check, store as Parquet, recognise what was seen before."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets import derived, gone_columns, near_duplicates, records, upload_pieces
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.jobs import queues
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.runner import JobKind, register
from dpportal.platform.json_types import Json
from dpportal.platform.keyed import keyed_digest
from dpportal.tables import TableFacts, UploadFault
from dpportal.tables.faults import SourceFault
from dpportal.tables.similarity.sketch import Sketch


class Conversions(JobKind[Conversion]):
    """Uploads, which become stored tables, and tables elsewhere, whose columns are read."""

    name = "Conversion"
    model = Conversion
    related = ("dataset",)
    queues = {queues.CONVERSIONS: Q()}
    to_owner = "dataset__owner_id"
    singly = True
    too_long = "Reading the file took too long and was stopped. Split it into smaller files."
    refusals = (UploadFault, SourceFault)

    def work(self, job: Conversion, claim: Claim) -> None:
        (_connect if job.dataset.is_remote else _convert)(job.dataset, claim)

    def close(self, job: Conversion, claim: Claim, reason: str) -> None:
        with transaction.atomic():
            claim.step("")  # how far it came says how large the file is
            claim.finish(JobState.FAILED, reason)
            Dataset.objects.filter(pk=job.dataset_id).update(state=Dataset.State.REFUSED)


CONVERSIONS = register(Conversions())


def fingerprint(content_digest: str) -> str:
    """The keyed fingerprint of a table's content: without the key, nobody can test a guess of the table."""
    return keyed_digest(content_digest.encode()).hex()


def dataset_of_file(path: Path, owner: User) -> Dataset | None:
    """The oldest dataset of a person that has the table of a file, with its records; the file itself is not kept.

    Raises UploadFault if the file is no table.
    """
    mark = fingerprint(records.content_digest(path))
    own = Dataset.objects.filter(owner=owner, fingerprint=mark).order_by("created_at")
    return next((dataset for dataset in own if dataset.has_records), None)


def _convert(dataset: Dataset, claim: Claim) -> None:
    claim.step("reading")
    upload_pieces.join(dataset)
    records.take_in(dataset)
    stored = records.convert(dataset, claim.advance, near_duplicates.sketch_key())
    claim.step("checking")
    mark = fingerprint(stored.facts.content_digest)
    similar = near_duplicates.similar_to_table(dataset, mark, Sketch.from_bytes(stored.facts.sketch))
    with transaction.atomic():
        claim.finish(JobState.DONE)
        near_duplicates.keep(dataset, stored.facts.sketch)
        _record(dataset, similar)
        columns = derived.column_fields(stored.facts.columns)
        names = [column.name for column in stored.facts.columns]
        gone_columns.forget(dataset, names)
        Dataset.objects.filter(pk=dataset.pk).update(
            **_standing(dataset, mark),
            table=stored.name,
            rows=stored.facts.rows,
            **columns,
            facts=_facts_of(stored.facts),
            options=stored.facts.options.to_json(),
        )
        _keep_declarations(dataset, names)


def _connect(dataset: Dataset, claim: Claim) -> None:
    """Read the columns of a table that lies elsewhere. Its place is its fingerprint: one budget for one table."""
    claim.step("reading")
    schema = records.remote_schema(dataset)
    mark = fingerprint(schema.identity)
    similar = near_duplicates.similar_to_table(dataset, mark, None, schema.relations)
    with transaction.atomic():
        claim.finish(JobState.DONE)
        _record(dataset, similar)
        Dataset.objects.filter(pk=dataset.pk).update(
            **_standing(dataset, mark),
            columns=[{**column.to_json(), "type": schema.types[column.name]} for column in schema.columns],
            facts={
                "format": "elsewhere",
                "identity": schema.identity,
                "definition": schema.definition,
                "left_out": [asdict(column) for column in schema.left_out],
            },
            relations=list(schema.relations),
        )
        _keep_declarations(dataset, [column.name for column in schema.columns])


def _standing(dataset: Dataset, mark: str) -> Json:
    """Whether a table is stored, or its owner has it already: of others' tables curators are told nothing.

    Two conversions of the same content at once: the unique fingerprint makes the later one start again.
    """
    own = Dataset.objects.filter(owner=dataset.owner, fingerprint=mark).exclude(pk=dataset.pk)
    twin = own.order_by("created_at").first()
    state = Dataset.State.DUPLICATE if twin else Dataset.State.STORED
    return {"state": state, "duplicate_of": twin, "fingerprint": mark}


def _record(dataset: Dataset, similar: list[SimilarDataset]) -> None:
    """Write down for administrators what a table is like; a line each time, so that nobody can tell from the time."""
    action = gettext_noop("uploaded a known table") if similar else gettext_noop("uploaded a new table")
    audit.record(dataset.owner, action, dataset, near_duplicates.clauses_of(similar))


def _keep_declarations(dataset: Dataset, names: list[str]) -> None:
    """Forget the declarations of columns that the file no longer has, since it was read in another way.

    Where the column that names a person is among them, it is asked anew who is protected.
    """
    for version in dataset.domain_versions.filter(frozen=False):
        version.attributes.exclude(column__in=names).delete()
        for row in version.attributes.all():
            version.attributes.filter(pk=row.pk).update(position=names.index(row.column))
        if version.unit_column not in names:
            if version.unit_column:
                Dataset.objects.filter(pk=dataset.pk).update(unit_declared=False)
            version.unit_column, version.max_rows = "", 1
            version.save(update_fields=["unit_column", "max_rows"])


def _facts_of(facts: TableFacts) -> Json:
    """What the dataset's pages say of the file."""
    return {
        "format": facts.format,
        "sheets": [asdict(sheet) for sheet in facts.sheets],
        **asdict(facts.oddities),
    }
