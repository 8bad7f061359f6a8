"""What a curator and an administrator can do to a dataset: each both or neither."""

from __future__ import annotations

from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets.models import AttributeDeclaration, Conversion, Dataset, DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.datasets.tasks import convert_upload
from dpportal.jobs import JobState
from mechanisms.domain import Attribute

# Sent in the transaction that erases a dataset's records, with `dataset`, so that rooms above forget what they hold
# of it. A receiver that cannot now raises DatasetError.
erasing = Signal()


class DatasetError(Exception):
    """Something that cannot be done now; the message says why and what to do."""


def create_dataset(draft: Dataset, file: File, options: dict[str, Any], by: User) -> Dataset:
    """Keep the upload and queue its conversion."""
    draft.owner = by
    draft.file_name = (file.name or "table")[-255:]
    draft.name = draft.name or draft.file_name.rsplit(".", 1)[0][:120]
    draft.options = options
    draft.upload = default_storage.save(f"uploads/{draft.pk}", file)
    with transaction.atomic():
        draft.save()
        Conversion.objects.create(dataset=draft)
        convert_upload.delay_on_commit(str(draft.pk))
    return draft


@transaction.atomic
def editable_domain(dataset: Dataset) -> DomainVersion:
    """The version that may be edited: the current one, or a copy of it if a release keeps it."""
    current = DomainVersion.objects.select_for_update().filter(dataset=dataset).order_by("-version").first()
    if current is None:
        return DomainVersion.objects.create(dataset=dataset, version=1)
    return _copied(current) if current.frozen else current


def _copied(old: DomainVersion) -> DomainVersion:
    new = DomainVersion.objects.create(
        dataset=old.dataset,
        version=old.version + 1,
        neighbours=old.neighbours,
        unit_column=old.unit_column,
        max_rows=old.max_rows,
    )
    copies = [
        AttributeDeclaration(
            domain_version=new,
            position=a.position,
            column=a.column,
            declaration=a.declaration,
            filled_from_data=a.filled_from_data,
        )
        for a in old.attributes.all()
    ]
    AttributeDeclaration.objects.bulk_create(copies)
    return new


@transaction.atomic
def declare(
    dataset: Dataset, column: str, attribute: Attribute | None, *, filled: bool | None = None
) -> None:
    """Declare a column's cells, or with None ignore the column.

    filled: whether the declaration was taken from the data; None keeps what the column's mark says.
    """
    version = editable_domain(dataset)
    if attribute is None:
        version.attributes.filter(column=column).delete()
        return
    position = [c["name"] for c in dataset.columns].index(column)
    values: dict[str, Any] = {"position": position, "declaration": attribute.to_json()}
    if filled is not None:
        values["filled_from_data"] = filled
    version.attributes.update_or_create(column=column, defaults=values)


@transaction.atomic
def declare_all(dataset: Dataset, attributes: list[Attribute]) -> None:
    """Declare several columns at once, as a codebook does."""
    for attribute in attributes:
        declare(dataset, attribute.name, attribute, filled=False)


@transaction.atomic
def declare_unit(dataset: Dataset, *, neighbours: str, unit_column: str, max_rows: int) -> None:
    """Say who is protected."""
    version = editable_domain(dataset)
    version.neighbours, version.unit_column, version.max_rows = neighbours, unit_column, max_rows
    version.save(update_fields=["neighbours", "unit_column", "max_rows"])


def erase(dataset: Dataset, by: User) -> None:
    """Delete the records for ever. Releases, ledger and fingerprint stay: what was spent stays spent."""
    with transaction.atomic():
        if dataset.conversion.active:
            raise DatasetError(
                _("The file is still being read. Wait until that has ended, then delete the records.")
            )
        if dataset.releases.filter(job__state__in=(JobState.QUEUED, JobState.RUNNING)).exists():
            raise DatasetError(
                _(
                    "A release of this dataset is in work. Wait until it has ended, or cancel it, "
                    "then delete the records."
                )
            )
        erasing.send(Dataset, dataset=dataset)
        Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.ERASED, upload="", table="")
        audit.record(by, "erased records", dataset)
    records.erase(dataset)


def allow_duplicate(dataset: Dataset, reason: str, by: User) -> None:
    """An administrator's decision that content seen before may be used again; recorded."""
    with transaction.atomic():
        waiting = Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.DUPLICATE)
        if not waiting.update(state=Dataset.State.STORED):
            raise DatasetError(_("This dataset is not waiting for such a decision."))
        audit.record(by, "allowed duplicate", dataset, reason)


def remove(dataset: Dataset) -> None:
    """Take an upload that never became a usable dataset off the list, with its files."""
    with transaction.atomic():
        removable = (Dataset.State.REFUSED, Dataset.State.DUPLICATE)
        if dataset.state not in removable:
            raise DatasetError(
                _("Only an upload that was not loaded can be removed; delete its records instead.")
            )
        dataset.delete()
    records.erase(dataset)
