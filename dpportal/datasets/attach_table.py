"""Datasets of tables that lie elsewhere: made by a curator, and kept with their table by an administrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import User
from dpportal.approvals import acts
from dpportal.datasets import near_duplicates, records
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.import_job import CONVERSIONS, fingerprint
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.datasets.quotas import CONNECTED, count_upload
from dpportal.datasets.services import lock_dataset
from dpportal.platform.two_people import FOLLOWED
from dpportal.tables import ReadOptions
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines import definitions

if TYPE_CHECKING:
    from dpportal.tables.connections.counting import Schema
# What the record says of a table that a dataset is connected to.
TABLE = gettext_noop("table %(id)s of connection %(connection)s")


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
        audit.record(by, CONNECTED, draft, clause(TABLE, id=table.pk, connection=table.connection_id))
        Conversion.objects.create(dataset=draft)
        CONVERSIONS.hint_on_commit(draft.pk)
    return draft


@dataclass(frozen=True)
class SourceDifference:
    """What a connection leads to now, compared with what a dataset was made from, for an administrator to decide on.

    lines: in words; empty if it is the same. mark: says which state this is. similar: the datasets with a budget that
    hold nearly what it leads to, and that no grant has bound to it.
    """

    dataset: Dataset
    lines: tuple[str, ...]
    mark: str
    similar: tuple[SimilarDataset, ...] = ()


def difference(dataset: Dataset) -> SourceDifference:
    """Raises DatasetError, and SourceFault if the table cannot be looked at."""
    return _difference(dataset, _looked_at(dataset))


def follow(dataset: Dataset, by: User, *, mark: str, reason: str) -> None:
    """An administrator's word that what the connection leads to now holds the same people's rows; recorded.

    As after an upgrade or a move of the server, or a view that was written anew: budget and releases stay with the
    table. Where another dataset with a budget holds nearly that table, nothing is spent until a grant binds the two.
    mark: of the difference that the administrator saw. Raises DatasetError, SourceFault if the table cannot be
    looked at, and UnapprovedError where this site wants a second person: see `followed_table`.
    """
    acts.require(FOLLOWED, dataset.pk)
    schema = _looked_at(dataset)
    seen = _seen(dataset, schema, mark, reason)
    if any(schema.types.get(column["name"]) != column["type"] for column in dataset.columns):
        raise DatasetError(
            _("The connection leads to a table that lacks its columns, or has them in other types.")
        )
    try:
        with transaction.atomic():
            similar = _similar(dataset, schema)
            lock_dataset(dataset, *(other.dataset for other in similar))
            unbound, now = _unbound(dataset, similar), fingerprint(schema.identity)
            Dataset.objects.filter(pk=dataset.pk).update(
                facts={**dataset.facts, "identity": schema.identity, "definition": schema.definition},
                # What it was read from before has paid for its releases, too.
                relations=sorted({*dataset.relations, *schema.relations}),
                fingerprint=now,
                granted_fingerprint="" if unbound else now,
            )
            because = clause(gettext_noop("reason: %(reason)s"), reason=reason.strip())
            like = near_duplicates.clauses_of(unbound)
            details = clauses(schema.identity, *seen.lines, like, because)
            audit.record(by, "followed a table", dataset, details)
    except IntegrityError:
        raise DatasetError(
            _("Its owner has another dataset of the table that the connection leads to.")
        ) from None


def seen_difference(dataset: Dataset, mark: str, reason: str) -> SourceDifference:
    """The difference that an administrator saw and has a reason for. Raises as `follow` does."""
    return _seen(dataset, _looked_at(dataset), mark, reason)


def _seen(dataset: Dataset, schema: Schema, mark: str, reason: str) -> SourceDifference:
    if not reason.strip():
        raise DatasetError(_("Write why these are the same people's rows."))
    seen = _difference(dataset, schema)
    if seen.mark != mark:
        raise DatasetError(_("The table changed again since this page was shown. Look at it once more."))
    return seen


def _looked_at(dataset: Dataset) -> Schema:
    if not (dataset.is_remote and dataset.has_records):
        raise DatasetError(_("This is no dataset of a table that lies elsewhere."))
    return records.remote_schema(dataset)


def _difference(dataset: Dataset, schema: Schema) -> SourceDifference:
    lines = definitions.changes(dataset.facts["definition"], schema.definition)
    if (former := dataset.facts["identity"]) != schema.identity:
        places = {"former": former, "now": schema.identity}
        lines.insert(0, _("its place was %(former)s and is %(now)s") % places)
    mark = definitions.digest({**schema.definition, "": schema.identity})
    return SourceDifference(dataset, tuple(lines), mark, tuple(_unbound(dataset, _similar(dataset, schema))))


def _similar(dataset: Dataset, schema: Schema) -> list[SimilarDataset]:
    """Those like the table that it will be counted from; no table elsewhere has a sketch."""
    return near_duplicates.similar_to_table(dataset, fingerprint(schema.identity), None, schema.relations)


def _unbound(dataset: Dataset, similar: list[SimilarDataset]) -> list[SimilarDataset]:
    """Those with a budget that no grant of the dataset was made in knowledge of."""
    known = set(dataset.same_people.values_list("pk", flat=True))
    return [other for other in near_duplicates.with_budget(similar) if other.dataset.pk not in known]
