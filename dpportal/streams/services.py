"""What a curator, or a program with a stream's token, can do to a stream: each both or neither."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit, people
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.accounts.program_tokens import ProgramToken
from dpportal.budgets import confirming, ledger
from dpportal.budgets.confirmed import require_stored
from dpportal.datasets import records, sealing, services as datasets
from dpportal.datasets.access import require_releaser
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.history import watched
from dpportal.jobs.claims import ACTIVE, JobState, reset_fields
from dpportal.jobs.clock import database_now
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json
from dpportal.publications import publishing
from dpportal.publications.confirmation import digest, require_writable
from dpportal.publications.publishing import after_comparison
from dpportal.streams import closing, downloads, drafts, period_imprints, repeated_files, tokens, vault
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import Stream, StreamJob
from dpportal.streams.preview import Preview
from mechanisms.continual.mechanism import StreamPlan

# Ends the name of a file that waits to be counted; the sweep knows it.
WAITING = ".update"
# What a job's options say of the question that its curator is asked.
QUESTIONS = ("repeats", "compared", "preview")


# What a curator chooses of a draft.
CHOICES = (
    "name", "description", "column", "cells", "split", "summed", "largest_increment", "step", "first_day", "horizon",
    "expected", *Stream.METHOD, *Stream.PRICE,
)  # fmt: skip
# What the record says of a file whose records may have been sent before.
REPEATS_LIKE = gettext_noop("period %(index)s, like %(names)s")
REPEATS_UNSEEN = gettext_noop("period %(index)s, not compared with others")


class StreamError(Exception):
    """Something that cannot be done now; the message says why and what to do."""


def why_not_started(dataset: Dataset) -> str:
    """Why no running count of a dataset can be begun yet; empty if one can."""
    if dataset.is_remote:
        return _("A running count is fed with files or typed counts, not from a table that lies elsewhere.")
    if dataset.asks_for_unit:
        return str(datasets.UNIT_FIRST)
    version = dataset.current_domain()
    is_declared = version is not None and version.attributes.exists()
    if not dataset.takes_streams or not (is_declared or dataset.is_tableless):
        return _("A running count needs a dataset with records and at least one declared column.")
    return ""


def duplicate(stream: Stream, by: User) -> Stream:
    """A new draft with the same choices."""
    return Stream.objects.create(
        dataset=stream.dataset, created_by=by, **{name: getattr(stream, name) for name in CHOICES}
    )


def request_opening(stream: Stream, *, reviewed: str, by: User) -> bool:
    """Reserve the budget and queue the opening; False if that was done before.

    reviewed: the digest of the plan that the curator saw. Raises StreamDraftError, StreamError or BudgetRefusedError.
    """
    # A strategy for a long stream takes a second to find and is then remembered: not while other writers wait.
    drafts.plan_of(stream)
    return _request_opening(stream, reviewed, by)


def reviewed_as(stream: Stream, version: DomainVersion, plan: StreamPlan) -> str:
    """The digest of what a curator reviews."""
    # The plan has the method, and the amount in its loss.
    others = [name for name in CHOICES if name not in (*Stream.METHOD, *Stream.PRICE)]
    chosen = {name: getattr(stream, name) for name in others}
    return digest(plan, version.declared(), chosen)


@transaction.atomic
def _request_opening(stream: Stream, reviewed: str, by: User) -> bool:
    confirming.lock(stream, by, StreamError)
    version, plan = drafts.plan_of(stream)
    if reviewed_as(stream, version, plan) != reviewed:
        raise StreamError(
            _("The declaration or the method changed since you reviewed it. Read the review again.")
        )
    require_writable(StreamError, plan, version.declared())
    datasets.require_ready(stream.dataset, StreamError)
    _version, counted = drafts.counted_of(stream)
    taken = Stream.objects.filter(pk=stream.pk, state=Stream.State.DRAFT)
    # Its first line in the history says what was reviewed, whatever the draft's row has by now, and no plan yet.
    begun = {"state": Stream.State.OPENING, "requested_at": database_now(), "plan_json": None}
    if not taken.update(**watched.noted_values(stream) | begun):
        return False
    # Asked after the stream's row was written: erasing, which locks that row, is then either over or waits.
    if not Dataset.objects.get(pk=stream.dataset_id).takes_streams:
        raise StreamError(
            _(
                "The records of this dataset were deleted, so no stream of it can be opened. Upload them again."
            )
        )
    datasets.freeze_parse_options(stream.dataset)
    charge = confirming.reserve(stream, plan.loss, version, reason=stream.name, by=by)
    Stream.objects.filter(pk=stream.pk).update(
        domain_version=version, plan_json=plan.to_json(), labels=counted.labels, charge=charge, created_by=by
    )
    require_stored(Stream, stream.pk, plan.to_json(), StreamError)
    _queue(StreamJob(stream=stream, kind=StreamJob.Kind.OPEN, created_by=by))
    return True


def discard(stream: Stream) -> None:
    """Delete a draft; nothing was spent on it."""
    deleted, _rows = Stream.objects.filter(pk=stream.pk, state=Stream.State.DRAFT).delete()
    if not deleted:
        raise StreamError(
            _("Only a draft can be deleted. A running count can be closed, and withdrawn from the public.")
        )


def queue_records(stream: Stream, index: int, file: File[bytes], by: User) -> StreamJob:
    """Have a file of a period's records counted and the period published. Raises StreamError."""
    version = stream.domain_version
    if stream.dataset.is_tableless:
        raise StreamError(
            _("This dataset has no table, so files cannot be counted. Count the rows, and type the number.")
        )
    if version is not None and version.unit_column:
        raise StreamError(
            _(
                "People of this dataset can have several rows, and a running count does not remember whom it "
                "counted in earlier periods. Count the period's rows yourself, at most %(rows)s of each person in "
                "all periods together, and type the number."
            )
            % {"rows": version.max_rows}
        )
    return _queue_file(
        StreamJob(stream=stream, kind=StreamJob.Kind.RECORDS, index=index, created_by=by), file
    )


@transaction.atomic
def confirm_file(stream: Stream, by: User, file: uuid.UUID | None = None) -> None:
    """Publish a file that was asked about: many periods after a preview, or rows that the curator says are new.

    file: the job of the file that was seen, where that is known; another one is not confirmed in its place.
    """
    job = _asking(stream, file)
    require_releaser(stream.dataset, by.pk, StreamError)
    require_open(stream)
    if job.repeats:
        template = REPEATS_LIKE if job.options["compared"] else REPEATS_UNSEEN
        detail = clause(template, index=job.index, names=", ".join(job.repeats))
        audit.record(by, "confirmed repeated records", stream, detail)
    if job.preview:
        seen = Preview(**job.preview)
        detail = clause(gettext_noop("periods %(first)s to %(last)s"), first=seen.first, last=seen.last)
        audit.record(by, "confirmed a file of periods", stream, detail)
    options = {**{k: v for k, v in job.options.items() if k not in QUESTIONS}, "confirmed": True}
    StreamJob.objects.filter(pk=job.pk).update(**reset_fields(), seen=False, options=options)
    STREAM_JOBS.hint_on_commit(job.pk)


@transaction.atomic
def drop_file(stream: Stream, by: User, file: uuid.UUID | None = None) -> None:
    """Delete a file that was asked about; nothing of it is published. file: as of `confirm_file`."""
    job = _asking(stream, file)
    if job.repeats:
        audit.record(by, "dropped repeated records", stream)
    _drop(job)


def _drop(job: StreamJob) -> None:
    StreamJob.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, options={}, file="")
    storage.delete_once_committed(job.file)


@transaction.atomic
def stop(stream: Stream, by: User, file: uuid.UUID | None = None) -> None:
    """Stop the work on a file: whoever reads it finds its claim lost, and publishes nothing more of it.

    file: as of `confirm_file`.
    """
    active = stream.jobs.exclude(kind=StreamJob.Kind.OPEN).filter(state__in=ACTIVE)
    job = active.select_for_update().first()
    if job is None or file not in (None, job.pk):
        raise StreamError(_("The work on this file has ended already, so there is nothing to stop."))
    ended = {"state": JobState.CANCELLED, "finished_at": Now(), "lease_until": None}
    active.update(**ended, step="", progress=0, progress_total=0, options={}, file="")
    storage.delete_once_committed(job.file)
    audit.record(by, "stopped a file", stream)


def _asking(stream: Stream, file: uuid.UUID | None) -> StreamJob:
    """The stream's newest job, which waits for the curator's word. Raises StreamError if it does not."""
    job = _newest(stream)
    if job is None or not job.asks or file not in (None, job.pk):
        raise StreamError(_("No file of this running count is waiting for your word."))
    return job


def _newest(stream: Stream) -> StreamJob | None:
    jobs = StreamJob.objects.select_for_update(of=("self",)).filter(stream=stream)
    return jobs.order_by("-queued_at").first()


def _drop_unanswered(stream: Stream) -> None:
    """A file that was asked about is given up for another one, or when the stream ends."""
    job = _newest(stream)
    if job is not None and job.asks:
        _drop(job)


def queue_counts(
    stream: Stream,
    file: File[bytes],
    options: Json,
    by: User,
    *,
    confirmed: bool,
    and_note: Callable[[uuid.UUID], None] | None = None,
) -> StreamJob:
    """Have every period of a file published. Not to be called inside a transaction. Raises StreamError.

    options: of `bulk_csv.read`. confirmed: whether without a preview that the curator has to agree to. and_note: called
    with the job's id in the transaction that queues it; where it raises, nothing was done.
    """
    options = {**options, **({"confirmed": True} if confirmed else {})}
    job = StreamJob(stream=stream, kind=StreamJob.Kind.COUNTS, options=options, created_by=by)
    return _queue_file(job, file, and_note)


def renew_token(stream: Stream, by: User, program_token: ProgramToken | None = None) -> str:
    """A new token for programs; the one before it opens nothing any more. Only this call ever shows it.

    program_token: see `tokens.renew`.
    """
    if not stream.is_open:
        raise StreamError(_("Only an open running count takes periods from programs. Open it first."))
    with transaction.atomic():
        token = tokens.renew(stream, by, program_token)
        audit.record(by, "made a token", stream)
        people.note(by, by, gettext_noop("made a token for programs"), stream.name, alarming=True)
    return token


@transaction.atomic
def close(stream: Stream, by: User) -> None:
    """End a stream before its horizon and delete its secret noise; what is published stays."""
    if _active_jobs(stream):
        raise StreamError(
            _(
                "A job of this running count is in work. Wait until it has ended, then close the running count."
            )
        )
    if not closing.close(stream):
        raise StreamError(_("Only an open running count can be closed."))
    _drop_unanswered(stream)
    audit.record(by, "closed", stream, after_comparison(stream))


@transaction.atomic
def publish(stream: Stream, by: User) -> None:
    """Show the series, and every period that is still to come, to everyone; one that is public stays as it is."""

    def require() -> None:
        if not stream.is_publishable:
            raise StreamError(_("Only a running count that was opened can be published."))
        require_releaser(stream.dataset, by.pk, StreamError)
        confirming.require_all_charges(stream.dataset, StreamError)

    try:
        is_new = publishing.publish(stream, by, require)
    except MemoryFaultError as fault:
        raise StreamError(str(fault)) from None
    if is_new:
        downloads.note_published(stream)
        downloads.request(stream)


def withdraw(stream: Stream, by: User, because: str = "") -> None:
    """Take the series off the public pages. because: the reason, which stands in place of the page."""
    if not publishing.withdraw(stream, by, because):
        raise StreamError(_("This running count is not public."))


def forget(sender: object, dataset: Dataset, **_kwargs: object) -> None:
    """When a dataset's records are erased: close its streams and delete all that holds true counts."""
    for stream in Stream.objects.select_for_update().filter(dataset=dataset):
        _cancel_opening(stream)
        if _active_jobs(stream):
            raise DatasetError(
                _(
                    "A running count of this dataset is in work. Wait until that has ended, then delete the records."
                )
            )
        closing.close(stream)
        # What a file would have published, and what was odd in it, says something of the records.
        stream.jobs.update(options={}, file="", file_name="")
        with period_imprints.sums_changing(stream, stream.periods.values_list("index", flat=True)):
            vault.forget_sums(stream)
        if stream.is_closed:  # before this, and not all that ending it takes may be done yet
            repeated_files.forget(stream)
            closing.forget_once_committed(stream.pk)
    StreamJob.forget_failures(dataset)


def _cancel_opening(stream: Stream) -> None:
    """One that waits, perhaps for its person's right: nothing of it was seen, though it may be paid for."""
    waiting = stream.jobs.filter(kind=StreamJob.Kind.OPEN, state=JobState.QUEUED)
    charge = stream.charge
    if charge and waiting.update(state=JobState.CANCELLED, finished_at=timezone.now()):
        Stream.objects.filter(pk=stream.pk, state=Stream.State.OPENING).update(state=Stream.State.FAILED)

        def void() -> (
            None
        ):  # not before it is sure that the records are erased; where it fails, the sweep does it
            ledger.void(charge)

        transaction.on_commit(void, robust=True)


def _queue_file(
    job: StreamJob, file: File[bytes], and_note: Callable[[uuid.UUID], None] | None = None
) -> StreamJob:
    """Keep a file in the dataset's private folder, which may take long, and then queue its job."""
    require_open(job.stream)
    job.file_name = (file.name or "file")[-255:]
    name = f"{records.folder(job.stream.dataset_id)}/{uuid.uuid4()}{WAITING}"
    try:
        job.file = sealing.keep_upload(name, file)
    except storage.StorageFault as fault:
        raise StreamError(str(fault)) from None
    try:
        with transaction.atomic():
            _require_still_open(job.stream)
            _drop_unanswered(job.stream)
            _queue(job)
            if and_note is not None:
                and_note(job.pk)
    except BaseException as error:
        with suppress(storage.StorageFault):  # the sweep deletes what no row names
            default_storage.delete(job.file)
        if isinstance(error, IntegrityError):
            raise StreamError(_busy_text()) from None
        raise
    return job


def _busy_text() -> str:
    return _(
        "Another job of this running count is in work. Wait until it has ended, then send the file again."
    )


def require_open(stream: Stream) -> None:
    """Refuse periods of what is not open. Raises StreamError."""
    if not stream.is_open:
        raise StreamError(_("This running count is not open, so it takes no periods."))


def _require_still_open(stream: Stream) -> None:
    """While the file came, the stream may have been closed, or its records erased; from now on that waits."""
    if not Stream.objects.select_for_update().get(pk=stream.pk).is_open:
        raise StreamError(_("This running count was closed meanwhile, so it takes no periods."))


def _queue(job: StreamJob) -> None:
    job.save()
    STREAM_JOBS.hint_on_commit(job.pk)


def _active_jobs(stream: Stream) -> bool:
    return stream.jobs.filter(state__in=ACTIVE).exists()
