"""A stream's jobs: open it, count a file of a period's records, publish many periods.

A job that dies is taken up again. What it published stays: its periods are met again by their numbers, so nothing is
drawn twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from itertools import islice

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from dpportal.budgets import ledger
from dpportal.budgets.ledger import BudgetOnHoldError, BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import near_duplicates, records
from dpportal.datasets.access import require_releaser
from dpportal.jobs import queues
from dpportal.jobs.claims import Claim, JobState, reset_fields
from dpportal.jobs.runner import JobKind, register
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications import idempotency_keys
from dpportal.streams import bulk_csv, execution, period_journal, repeated_files
from dpportal.streams.bulk_csv import ManyError
from dpportal.streams.execution import PeriodRefusedError, RefusalReason, Update
from dpportal.streams.measure import StreamDraftError, counted_by
from dpportal.streams.models import Period, Stream, StreamJob
from dpportal.streams.preview import previewed
from dpportal.streams.vault import MemoryUnreachableError, VaultError
from dpportal.tables import UploadFault
from mechanisms.noise import Noise

# Periods that a bulk load publishes in one transaction, and looks at again at most when it is taken up.
BATCH = 50
# Until a stream that is paid for is opened again after its workers died.
REOPENING_SECONDS = 60.0


def _check_right(job: StreamJob) -> None:
    """Nothing is begun for who may not publish; whether the right is still there when it is published is asked then."""
    with transaction.atomic():
        require_releaser(job.dataset, job.created_by_id, partial(PeriodRefusedError, RefusalReason.OWNER))


def open_stream(job: StreamJob, claim: Claim) -> None:
    """Draw what is drawn in advance, and spend the budget."""
    claim.step("opening")
    execution.open_stream(job.stream, claim)


def publish_records(job: StreamJob, claim: Claim) -> None:
    """Count a file of the period's new records and publish the period."""
    stream = job.stream
    assert stream.domain_version is not None
    assert job.index is not None
    claim.step("reading")
    counted = counted_by(stream, stream.domain_version.domain())
    counts, facts = records.count_upload(
        stream.dataset, job.file, job.file_name, counted.domain, claim.advance, near_duplicates.sketch_key()
    )
    asks = facts.rows > 0 and not job.is_confirmed
    if asks and (question := repeated_files.question(job, facts)):
        # The file stays; the job goes on, from the beginning, once the curator says that its rows are new.
        claim.step("asking")
        claim.write(options=question)
        claim.finish(JobState.DONE)
        return
    claim.step("publishing")
    key = idempotency_keys.digest(str(stream.pk), str(job.pk))
    update = Update(job.index, counted.increments(counts), Period.Source.RECORDS, key)
    [published] = execution.publish(stream.pk, [update], by=job.created_by, claim=claim)
    # Somebody else may have published the period while the file was read; then nothing of it was used.
    used = published.period.key == key
    # What a file held is compared with the next period's; after the last there is none.
    # A worker that wakes late keeps nothing: the records may be erased by then.
    with transaction.atomic():
        claim.write(options={"told": asdict(facts.oddities), "used": used})
        if used and facts.rows and Stream.objects.filter(pk=stream.pk, state=Stream.State.OPEN).exists():
            repeated_files.keep(job, facts)
    _finish(job, claim)


def publish_counts(job: StreamJob, claim: Claim, noise: Noise | None = None) -> None:
    """Publish every period of a file, a batch in each transaction, after the whole file was checked.

    Where the curator has not agreed yet, the job ends with what it would publish, and the file stays for their word.
    """
    claim.step("checking")
    with _updates(job) as updates:
        preview = previewed(job.stream, updates)
    if preview.new and not job.is_confirmed:
        claim.step("asking")
        claim.write(options={**job.options, "preview": preview.to_json()})
        claim.finish(JobState.DONE)
        return
    claim.step("publishing")
    done = 0
    with _updates(job) as updates:
        while batch := list(islice(updates, BATCH)):
            execution.publish(job.stream.pk, batch, by=job.created_by, noise=noise, claim=claim)
            done += len(batch)
            claim.advance(done, preview.total)
    _finish(job, claim)


WORK = {
    StreamJob.Kind.OPEN: open_stream,
    StreamJob.Kind.RECORDS: publish_records,
    StreamJob.Kind.COUNTS: publish_counts,
}
RECORDS = Q(kind=StreamJob.Kind.RECORDS)


class StreamJobs(JobKind[StreamJob]):
    """A stream's jobs; a file of records is read where uploads are."""

    name = "StreamJob"
    model = StreamJob
    related = ("stream__dataset", "stream__domain_version", "stream__charge", "created_by")
    queues = {queues.WORK: ~RECORDS, queues.CONVERSIONS: RECORDS}
    to_owner = "stream__dataset__owner_id"
    too_long = (
        "The job took longer than an hour. Send fewer periods or rows at a time; what is published stays."
    )
    refusals = (UploadFault, PeriodRefusedError, BudgetRefusedError, ManyError, StreamDraftError, VaultError)
    on_hold = (BudgetOnHoldError, MemoryUnreachableError)

    def work(self, job: StreamJob, claim: Claim) -> None:
        _check_right(job)
        # Asked before anything is read or drawn; where a charge is missing, the job waits.
        ledger.require_complete(job.dataset)
        WORK[StreamJob.Kind(job.kind)](job, claim)

    def close(self, job: StreamJob, claim: Claim, reason: str) -> None:
        """A stream that was not opened costs nothing; one that is paid for is opened later, whatever ended its job."""
        if job.kind == StreamJob.Kind.OPEN:
            _close_opening(job, claim, reason)
        else:
            _fail(claim, reason)
            _delete_file(job)


def _close_opening(job: StreamJob, claim: Claim, reason: str) -> None:
    """Void the reservation and end the job; or put the job off where a worker that slept or died has paid.

    Where that cannot be known yet, the job waits for an administrator.
    """
    try:
        with transaction.atomic():
            stream = Stream.objects.select_for_update().get(pk=job.stream_id)
            claim.renew()
            if _is_paid(job) and not period_journal.has_published(stream.pk):
                claim.postpone(REOPENING_SECONDS)
                return
            _fail(claim, reason)
            Stream.objects.filter(pk=stream.pk, state=Stream.State.OPENING).update(state=Stream.State.FAILED)
    except (BudgetOnHoldError, MemoryFaultError):
        claim.put_on_hold()


def _is_paid(job: StreamJob) -> bool:
    """Whether an opening is paid for; if it is not, it is void from now on, and no worker can pay it any more.

    Void and answer are one act: a worker that wakes between a look and a void would lose what it pays. Raises
    BudgetOnHoldError where the memory cannot be asked.
    """
    charge = job.stream.charge
    assert charge is not None
    try:
        ledger.outcome_of(charge)
    except BudgetOnHoldError:
        raise
    except BudgetRefusedError:
        pass  # the memory has it as void, and the ledger now, too
    return not ledger.void(charge)


def _fail(claim: Claim, reason: str) -> None:
    # How far it came says how large the file is.
    claim.finish(JobState.FAILED, reason, file="", step="", progress=0, progress_total=0)


STREAM_JOBS = register(StreamJobs())


def void_left() -> None:
    """Void reservations of streams that were not opened, and ended while the memory could not be reached.

    One that a worker which slept had paid for meanwhile is opened.
    """
    failed = Stream.objects.filter(state=Stream.State.FAILED, charge__state=LedgerEntry.State.RESERVED)
    for stream in failed.select_related("charge__dataset"):
        assert stream.charge is not None
        with transaction.atomic():
            if not ledger.void(stream.charge) and stream.charge.dataset.takes_streams:
                given_up = StreamJob.objects.filter(
                    stream=stream, kind=StreamJob.Kind.OPEN, state=JobState.FAILED
                )
                if given_up.update(**reset_fields()):
                    Stream.objects.filter(pk=stream.pk).update(state=Stream.State.OPENING)


@contextmanager
def _updates(job: StreamJob) -> Iterator[Iterator[Update]]:
    """The periods of the job's file, read one after the other."""
    with records.waiting_lines(job.file) as lines:
        options = {name: job.options[name] for name in bulk_csv.OPTIONS if name in job.options}
        yield bulk_csv.read(lines, job.stream, **options)


def _finish(job: StreamJob, claim: Claim) -> None:
    claim.finish(JobState.DONE, file="")
    _delete_file(job)


def _delete_file(job: StreamJob) -> None:
    """No row names it any more, so the sweep does it where the storage does not."""
    if job.file:
        with suppress(storage.StorageFault):
            default_storage.delete(job.file)
