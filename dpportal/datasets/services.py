"""What a curator and an administrator can do to a dataset: each both or neither."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from copy import copy
from uuid import UUID

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import ProtectedError, Q
from django.db.models.functions import Now
from django.dispatch import Signal
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets import derived, keys, protection_change, receipts, records, sealing
from dpportal.datasets.declaration_record import columns_declared, one_row_confirmed, protection_declared
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.frozen_declarations import own_facts
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.datasets.idle_records import require_idle, require_unread
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import AttributeDeclaration, Conversion, Dataset, DomainVersion
from dpportal.datasets.name_clash import refuse_clash
from dpportal.datasets.other_options import columns_under
from dpportal.datasets.protection import Protection
from dpportal.datasets.quotas import UPLOADED, megabytes, require_room
from dpportal.datasets.truths import refuse_unread
from dpportal.jobs.claims import ACTIVE, JobState, reset_fields
from dpportal.platform import listed_names, storage, visible_text
from dpportal.platform.json_types import Json
from dpportal.tables import ReadOptions
from mechanisms.domain import Attribute, DomainError

# Sent in the transaction that erases a dataset's records, with `dataset`, so that rooms above forget what they hold
# of it. A receiver that cannot now raises DatasetError.
erasing = Signal()


def create_dataset(
    draft: Dataset, file: File[bytes], options: Json, by: User, and_note: Callable[[UUID], None] | None = None
) -> Dataset:
    """Keep the upload, which may take long, and then queue its conversion, in a transaction of its own.

    and_note: is called in that with the dataset's id; where it raises, nothing was done.
    """
    upload = _stored_original(draft, file)
    try:
        with transaction.atomic():
            queue_new(draft, upload, file.name or "table", megabytes(file.size), options, by)
            if and_note is not None:
                and_note(draft.pk)
    except BaseException:
        with suppress(storage.StorageFault):  # the sweep deletes what no row names
            default_storage.delete(upload)
        raise
    return draft


@transaction.atomic
def queue_new(draft: Dataset, upload: str, file_name: str, megabytes: int, options: Json, by: User) -> None:
    """A dataset of a file that lies in private storage already, and the job that reads it."""
    require_room(by, megabytes)
    draft.owner, draft.upload, draft.options = by, upload, options
    draft.file_name, draft.megabytes = file_name[-255:], megabytes
    draft.name = draft.name or visible_text.shown_name(draft.file_name.rsplit(".", 1)[0])[:120]
    draft.save(force_insert=True)
    audit.record(by, UPLOADED, draft)
    Conversion.objects.create(dataset=draft)
    CONVERSIONS.hint_on_commit(draft.pk)


def _stored_original(dataset: Dataset, file: File[bytes]) -> str:
    name = storage.random_name(records.folder(dataset.pk), sealing.ORIGINAL)
    try:
        return sealing.keep_upload(name, file, is_new=True)
    except storage.StorageFault as fault:
        raise DatasetError(str(fault)) from None


def change_parse_options(dataset: Dataset, options: ReadOptions, by: User) -> None:
    """Declare how the file is read, after a look at it. Only what finds the fields needs it to be read again."""
    dataset.refresh_from_db()
    columns, seen = columns_under(dataset, options), (dataset.table, dataset.options)
    with transaction.atomic():
        lock_dataset(dataset)
        if not dataset.can_change_parse_options:
            raise DatasetError(
                _(
                    "How this file is read is fixed: a release or a running count has begun, or it is being read now."
                )
            )
        if (dataset.table, dataset.options) != seen:
            raise DatasetError(_("How this file is read was changed meanwhile. Look at the page once more."))
        Dataset.objects.filter(pk=dataset.pk).update(options=options.to_json())
        audit.record(by, "changed how the file is read", dataset)
        if dataset.is_remote:
            return  # its columns and their types are the database's own
        if columns is not None:
            Dataset.objects.filter(pk=dataset.pk).update(**columns)
        elif dataset.upload:
            Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.CONVERTING)
            _queue_conversion(dataset)
        else:
            text = _("The uploaded file is no longer kept, so its fields cannot be found in another way.")
            raise DatasetError(text)


@transaction.atomic
def cancel_reading(dataset: Dataset, by: User) -> None:
    """Stop the conversion: whoever reads the file finds its claim lost within a second, and ends its reader."""
    stopped = Conversion.objects.filter(dataset=dataset, state__in=ACTIVE)
    ended = {"state": JobState.CANCELLED, "finished_at": Now(), "lease_until": None}
    if not stopped.update(**ended, step="", progress=0, progress_total=0):
        raise DatasetError(_("Reading this file has ended already, so there is nothing to cancel."))
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.CANCELLED)
    audit.record(by, "cancelled reading", dataset)


@transaction.atomic
def read_again(dataset: Dataset, by: User) -> None:
    """Read the file once more as it was being read before."""
    lock_dataset(dataset)
    if not dataset.can_be_read_again:
        raise DatasetError(_("This file is not waiting to be read again."))
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.CONVERTING)
    audit.record(by, "read again", dataset)
    _queue_conversion(dataset)


def _queue_conversion(dataset: Dataset) -> None:
    """A conversion from the beginning."""
    Conversion.objects.filter(dataset=dataset).update(**reset_fields())
    CONVERSIONS.hint_on_commit(dataset.pk)


@transaction.atomic
def freeze_parse_options(dataset: Dataset) -> None:
    """Fix how the file is read, from a reservation on; its original is deleted when this is committed."""
    current = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    Dataset.objects.filter(pk=dataset.pk).update(reading_frozen=True, upload="")
    if current.upload:
        storage.delete_once_committed(current.upload)


def lock_dataset(dataset: Dataset, *others: Dataset) -> None:
    """Until this transaction ends, nobody else changes what is declared of a dataset, or how it is read.

    All that is bound together is locked as well, since what is promised of one binds the others; and so are `others`.
    In one order, so that two of these never wait for each other for ever: it comes before any other lock of a dataset.
    """
    together = dataset.binds | Q(pk__in=[other.pk for other in others])
    list(Dataset.objects.select_for_update(no_key=True).filter(together).order_by("pk").values("pk"))
    dataset.refresh_from_db()


@transaction.atomic
def editable_domain(dataset: Dataset) -> DomainVersion:
    """The version that may be edited: the current one, or a copy of it if a release keeps it."""
    lock_dataset(dataset)
    current = DomainVersion.objects.select_for_update().filter(dataset=dataset).order_by("-version").first()
    if current is None:
        return DomainVersion.objects.create(dataset=dataset, version=1)
    return _copied(current) if current.frozen else current


def _copied(old: DomainVersion) -> DomainVersion:
    new = DomainVersion.objects.create(**{**own_facts(old), "version": old.version + 1})
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
    dataset: Dataset,
    column: str,
    attribute: Attribute | None,
    *,
    filled: bool | None = None,
    by: User | None = None,
) -> None:
    """Declare a column's cells, or with None ignore the column.

    filled: whether the declaration was taken from the data; False: it comes from elsewhere, as from a codebook, and
    replaces what was; None: a person typed it. A column that was filled keeps that mark whatever is typed later, since
    who has seen the values cannot unsee them. by: None for the owner, on whose word a worker does it.
    """
    _declare(dataset, column, attribute, filled)
    columns_declared(dataset, {column: attribute}, by)


def _declare(dataset: Dataset, column: str, attribute: Attribute | None, filled: bool | None) -> None:
    version = editable_domain(dataset)
    if attribute is None:
        version.attributes.filter(column=column).delete()
        return
    refuse_clash(attribute)
    refuse_unread(attribute, derived.look_of(dataset, attribute.column))
    if refusal := records.cannot_count(dataset, attribute):
        raise DomainError(f"{column}: {refusal}")
    names = [c["name"] for c in dataset.columns]
    position = names.index(attribute.column)
    taken = version.attributes.filter(column=column).exclude(position=position).exists()
    if attribute.source and (column in names or taken):
        raise DomainError(f"{column}: there is a column of this name already. Choose another.")
    values: Json = {"position": position, "declaration": attribute.to_json()}
    if filled is not None:
        _remember_filled(dataset, attribute, filled)
    values["filled_from_data"] = attribute.column in dataset.filled_columns
    version.attributes.update_or_create(column=column, defaults=values)


def _remember_filled(dataset: Dataset, attribute: Attribute, filled: bool) -> None:
    """Mark the column as one that was filled from the data, or take the mark away."""
    seen = set(dataset.filled_columns)
    if filled:
        seen.add(attribute.column)
    elif not attribute.source:  # a coarser column replaces nothing of the one that it is made of
        seen.discard(attribute.column)
    Dataset.objects.filter(pk=dataset.pk).update(filled_columns=sorted(seen))
    dataset.refresh_from_db(fields=["filled_columns"])


@transaction.atomic
def declare_all(
    dataset: Dataset,
    attributes: Iterable[Attribute],
    *,
    filled: Collection[str] | None = None,
    ignored: Collection[str] = (),
    by: User | None = None,
) -> None:
    """Declare several columns at once, or none if one is refused. by: None for the owner.

    filled: those that were taken from data, while the others come from elsewhere; None: a person typed them all.
    """
    declared: dict[str, Attribute | None] = {attribute.name: attribute for attribute in attributes}
    declared |= dict.fromkeys(ignored)
    for name, attribute in declared.items():
        _declare(dataset, name, attribute, None if filled is None else name in filled)
    columns_declared(dataset, declared, by)


@transaction.atomic
def declare_unit(
    dataset: Dataset,
    *,
    neighbours: str,
    unit_column: str,
    max_rows: int,
    ignore_case: bool = False,
    by: User | None = None,
) -> None:
    """Say who is protected. by: None for the owner."""
    if protection_change.lacks_approval(dataset, Protection(neighbours, unit_column, ignore_case)):
        raise DatasetError(_("Here this needs a second person: ask for one on the page “Who is protected”."))
    version = editable_domain(dataset)
    version.neighbours, version.unit_column, version.max_rows = neighbours, unit_column, max_rows
    version.ignore_case = ignore_case
    version.save(update_fields=["neighbours", "unit_column", "max_rows", "ignore_case"])
    _unit_is_declared(dataset)
    protection_declared(dataset, version, by)


# What is said to whoever wants to release first.
UNIT_FIRST = gettext_lazy("Say first whether each row is one person: the answer decides who is protected.")


def _unit_is_declared(dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=True)
    dataset.unit_declared = True


@transaction.atomic
def confirm_one_row(dataset: Dataset, columns: Collection[str], by: User) -> None:
    """Remember that each person has one row although these columns look like identifiers."""
    lock_dataset(dataset)
    confirmed = sorted({*dataset.one_row_columns, *columns})
    Dataset.objects.filter(pk=dataset.pk).update(one_row_columns=confirmed)
    dataset.one_row_columns = confirmed
    _unit_is_declared(dataset)
    one_row_confirmed(dataset, columns, by)


def require_ready(dataset: Dataset, refused: type[Exception]) -> None:
    """Check, before budget is spent, that it is said who is protected and that the disk has space.

    Raises `refused` with a sentence for the curator.
    """
    if identifying := columns_to_ask_about(dataset):
        text = _(
            "Does a person have more than one row? %(columns)s looks like an identifier of people. Name it on the page "
            "“Who is protected”, or confirm that each person has one row."
        )
        raise refused(text % {"columns": listed_names.listed(identifying)})
    # Read anew: a draft may be older than the table, and so than the question.
    if Dataset.objects.get(pk=dataset.pk).asks_for_unit:
        raise refused(_("%(why)s It is asked on the dataset's page.") % {"why": UNIT_FIRST})
    try:
        storage.require_space()
    except storage.DiskFullError as full:
        raise refused(str(full)) from None


def erase(dataset: Dataset, by: User, because: str = "", **still: object) -> None:
    """Delete the records for ever. Releases, ledger and fingerprint stay: what was spent stays spent.

    because: why, where nobody pressed a button. still: fields that must be as they were when that was found out.
    Whoever presses twice has the files deleted that are left: the receipt of the first time stands.
    Raises DatasetError while a job is at the records.
    """
    require_unread(dataset)  # and again below: to erase a stream of thousands of periods takes seconds
    if Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.ERASED).exists():
        _erase_files(dataset)
        return
    files = receipts.files_of(dataset)
    with transaction.atomic():
        _forget_records(dataset, **still)
        receipts.destroy_key(dataset, files, by, because)
        audit.record(by, "erased records", dataset, because)
        transaction.on_commit(lambda: receipts.remember(dataset.pk))
    _erase_files(dataset)


def erase_again(dataset: Dataset, receipt: str) -> None:
    """Erase what was erased since the copy that the database was put back from. Raises DatasetError, as `erase` does.

    receipt: the one that was given out then, which stands again.
    """
    require_unread(dataset)
    with transaction.atomic():
        _forget_records(dataset)
        receipts.put_back(dataset.pk, receipt)
        audit.record_own(receipts.ERASED_AGAIN, dataset)
    _erase_files(dataset)


def _forget_records(dataset: Dataset, **still: object) -> None:
    # Streams first, then the dataset, as whoever opens one does. Who asks for a release now is seen, or sees this.
    erasing.send(Dataset, dataset=dataset)
    lock_dataset(dataset)
    require_idle(dataset)
    still_so = Dataset.objects.filter(pk=dataset.pk, **still).exclude(state=Dataset.State.ERASED)
    if not still_so.update(state=Dataset.State.ERASED, upload="", table=""):
        raise DatasetError(_("What was to be deleted was changed meanwhile."))
    derived.forget(dataset)


def _erase_files(dataset: Dataset) -> None:
    """Delete the files of a dataset that no row names any more. Raises DatasetError if they cannot be reached now."""
    text = _(
        "Nothing can be released from these records any more, but the file storage does not answer. The portal "
        "deletes the files by itself as soon as it does."
    )
    try:
        records.erase(dataset)
    except storage.StorageFault:
        raise DatasetError(text) from None


def allow_duplicate(dataset: Dataset, reason: str, by: User) -> None:
    """An administrator's decision that content seen before may be used again; recorded."""
    with transaction.atomic():
        waiting = Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.DUPLICATE)
        if not waiting.update(state=Dataset.State.STORED):
            raise DatasetError(_("This dataset is not waiting for such a decision."))
        audit.record(by, "allowed duplicate", dataset, reason)


def remove(dataset: Dataset, by: User) -> None:
    """Take an upload that never became a usable dataset off the list, with its files."""
    removed = copy(dataset)  # Django takes the key from what it deletes
    with transaction.atomic():
        if dataset.state not in Dataset.NOT_LOADED:
            text = _("Only an upload that was not loaded can be removed; delete its records instead.")
            raise DatasetError(text)
        audit.record(by, "removed an upload", dataset)
        try:
            dataset.delete()
            keys.destroy(removed.pk)  # after the row, of which nothing is noted without the key
        except ProtectedError:
            text = _(
                "This dataset has a budget or drafts, so it stays on the list. Delete its records instead."
            )
            raise DatasetError(text) from None
    _erase_files(removed)
