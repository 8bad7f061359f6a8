"""Datasets of tables that lie elsewhere: made by a curator, and kept with their table by an administrator."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.connections.models import SharedTable
from dpportal.datasets.conversion import fingerprint
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.quotas import CONNECTED, count_upload
from dpportal.datasets.rawdata import ReadOptions, records
from dpportal.datasets.services import hold
from dpportal.datasets.tasks import convert_upload


def connect(draft: Dataset, table: SharedTable, by: User) -> Dataset:
    """Make a dataset of a table that stays where it is, and queue the reading of its columns."""
    if not SharedTable.offered_to(by).filter(pk=table.pk).exists():
        raise DatasetError(_("This table is not offered to you any more."))
    draft.owner, draft.source = by, table
    draft.name = draft.name or table.title
    draft.options = ReadOptions().settled().to_json()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(
            pk=by.pk
        )  # two at once are counted one after the other
        count_upload(by)
        draft.save()
        audit.record(by, CONNECTED, draft, f"table {table.pk} of connection {table.connection_id}")
        Conversion.objects.create(dataset=draft)
        convert_upload.delay_on_commit(str(draft.pk))
    return draft


def follow(dataset: Dataset, by: User) -> None:
    """An administrator's word that what the connection leads to now is the same table, of the same people; recorded.

    As after an upgrade or a move of the server: budget and releases stay with the table. Raises DatasetError, and
    SourceFault if the table cannot be looked at.
    """
    if not (dataset.is_elsewhere and dataset.has_records):
        raise DatasetError(_("This is no dataset of a table that lies elsewhere."))
    found = records.look_elsewhere(dataset)
    if any(found.types.get(column["name"]) != column["type"] for column in dataset.columns):
        raise DatasetError(
            _("The connection leads to a table that lacks its columns, or has them in other types.")
        )
    try:
        with transaction.atomic():
            hold(dataset)
            Dataset.objects.filter(pk=dataset.pk).update(
                facts={**dataset.facts, "identity": found.identity},
                relations=list(found.relations),
                fingerprint=fingerprint(found.identity),
            )
            audit.record(by, "followed a table", dataset, found.identity)
    except IntegrityError:
        raise DatasetError(
            _("Its owner has another dataset of the table that the connection leads to.")
        ) from None
