"""Where data, budget and noise come together: count, measure, commit, then post-process.

Nothing was revealed until the transaction that stores the measurement commits, and that same transaction spends
the reservation. A worker killed before it leaves a reservation and no release, and the job may run again; killed
after it, the job only repeats post-processing, which always gives the same bytes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from uuid import UUID

import numpy as np
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _, override

from dpportal.budgets import charge_journal, ledger, refusals
from dpportal.budgets.ledger import BudgetOnHoldError, BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import records
from dpportal.datasets.access import require_owner, require_releaser
from dpportal.datasets.models import Dataset
from dpportal.history.imprints import ForgedRowError
from dpportal.jobs import event_log, search_cache
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.clock import database_now
from dpportal.jobs.runner import JobKind, register
from dpportal.platform import storage
from dpportal.platform.language_layers import languages, layered
from dpportal.platform.sealing_faults import FileChangedFault, KeyLostFault
from dpportal.releases import bundle, file_imprints, results
from dpportal.releases.as_confirmed import confirmed_release, described_release, release_of
from dpportal.releases.display_texts import DisplayTexts
from dpportal.releases.going_public import publish_as_decided
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.products import AnyReconstructed, confirmed_plan, planner_of, presenter_of, runner_of
from dpportal.releases.row_retention import ROWS_COUNTED
from dpportal.tables.faults import SourceFault
from mechanisms.noise.secret import secret_noise
from mechanisms.protocol import Measurement, OutdatedPlanError

log = logging.getLogger(__name__)

# Between interruptions of what is left after the measurement: doubled each time, half a day in all.
FIRST_PAUSE_SECONDS, PUT_OFF_AT_MOST = 60.0, 10
NO_RECORDS = "The records of this dataset were deleted before the job began."
MEASURED_LATE = (
    "It was measured and paid for before it could be cancelled; it can be finished at no further cost."
)
LOST = (
    "This was measured before the portal's database was put back from an older copy, and the measurement is lost. Its "
    "charge stays spent. Release it anew."
)


class JobFailedError(Exception):
    """The job cannot succeed however often it is tried; the message is for the curator."""


class SettledBeforeError(Exception):
    """A charge has settled on what was not known when the transaction began, which ends without a change.

    outcome: what is remembered of it; empty where that is to be asked.
    """

    def __init__(self, outcome: Mapping[str, str]) -> None:
        super().__init__("settled before")
        self.outcome = outcome


class ReleaseJobs(JobKind[ReleaseJob]):
    """Releases: counted and measured once, and finished however often that takes."""

    name = "ReleaseJob"
    model = ReleaseJob
    to_owner = "release__dataset__owner_id"
    too_long = "The job took longer than an hour. Choose fewer cells or columns and release again."
    refusals = (JobFailedError, BudgetRefusedError, SourceFault, OutdatedPlanError, ForgedRowError)
    on_hold = (BudgetOnHoldError,)

    def work(self, job: ReleaseJob, claim: Claim) -> None:
        try:
            if not _is_measured(job):
                measure(job.release_id, claim)
            finish(job.release_id, claim)
        except OutdatedPlanError:
            search_cache.forget_all()
            raise

    def close(self, job: ReleaseJob, claim: Claim, reason: str) -> None:
        """The reservation is void unless something was measured.

        Where that cannot be known yet, or not be entered, the job waits.
        """
        try:
            try:
                _close(job.release_id, claim, reason)
            except SettledBeforeError:
                _close(job.release_id, claim, reason)
        except BudgetOnHoldError:
            claim.put_on_hold()

    def close_interrupted(self, job: ReleaseJob, claim: Claim, reason: str) -> None:
        """One that has measured is tried again by itself, later and later."""
        if _is_measured(job) and job.put_off < PUT_OFF_AT_MOST:
            claim.postpone(FIRST_PAUSE_SECONDS * 2.0**job.put_off, put_off=job.put_off + 1)
        else:
            self.close(job, claim, reason)

    def waits_for_storage(self, job: ReleaseJob) -> bool:
        """What was measured is finished later, however often that takes."""
        return _is_measured(job)


RELEASES = register(ReleaseJobs())


def measure(release_id: UUID, claim: Claim) -> None:
    """Count, draw the noise once, and commit measurement and charge together.

    What was measured when the portal died, or before an older copy of its database was put back, is taken as it is.
    """
    release = confirmed_release(release_id)
    _check_right(release)
    outcome = ledger.outcome_of(release.confirmed_charge)
    if outcome is not None:
        commit(release, claim, CommittedMeasurement.again(outcome))
        return
    ledger.require_complete(release.dataset)
    if not ledger.is_granted_table(
        release.dataset
    ):  # it was reserved, and then an administrator had it follow another
        raise BudgetOnHoldError(refusals.read_again_text())
    if not release.dataset.has_records:
        raise JobFailedError(_(NO_RECORDS))
    runner, plan, noise = runner_of(release), confirmed_plan(release), secret_noise()
    cost = planner_of(release).job_cost(plan, release.people)
    if cost is not None and (obstacle := cost.obstacle_now()):
        raise JobFailedError(obstacle)
    claim.step("counting")
    counts = runner.count(release, plan, noise.key())
    claim.step("measuring")
    measurement = runner.measure(plan, counts.measured, noise)
    commit(release, claim, keep(release, claim, counts.compared, measurement))


@dataclass(frozen=True)
class CommittedMeasurement:
    """Where a measurement and the true counts that it was made from lie, and the digest of the former.

    read_from: of a table that lies elsewhere, where and when it was read, as JSON.
    """

    measurement: str
    measurement_sha256: str
    true_counts: str
    read_from: str = ""

    @classmethod
    def again(cls, outcome: Mapping[str, str]) -> CommittedMeasurement:
        """What is remembered of a measurement. Raises JobFailedError if its file is not there any more.

        Of a charge that was entered into a memory that had lost it, nothing else may be remembered.
        """
        if not outcome:
            raise JobFailedError(_(LOST))
        committed = cls(**outcome)
        if not default_storage.exists(committed.measurement):
            raise JobFailedError(_(LOST))
        with storage.local_path(committed.measurement) as path:
            if storage.sha256(path) != committed.measurement_sha256:
                raise JobFailedError(_(LOST))
        return committed


def outcomes_of(dataset: Dataset) -> dict[str, Mapping[str, str]]:
    """What a memory that has lost it is to remember of the dataset's measurements, by the key of each charge."""
    names = [field.name for field in fields(CommittedMeasurement)]
    measured = Release.objects.filter(dataset=dataset).exclude(measurement="").values("pk", *names)
    # What was sealed with a key that is lost cannot be remembered: the database has it no more than the memory.
    readable = [row for row in measured if isinstance(row["measurement_sha256"], str)]
    return {row.pop("pk").hex: row for row in readable}


def keep(
    release: Release, claim: Claim, counts: np.ndarray, measurement: Measurement
) -> CommittedMeasurement:
    """Write counts and measurement durably, to files of this attempt alone that no row points to yet.

    Nobody writes over them or deletes them but the sweep, once the charge has settled on another attempt's.
    """
    committed = records.keep_counts(release.dataset_id, counts, _counts_of(release, claim.fence))
    with storage.scratch_folder() as scratch:
        path = scratch / "measurement.npy"
        np.save(path, measurement.values)
        digest = storage.sha256(path)
        stored = storage.keep_under_random_name(path, f"{_folder(release)}/{claim.fence}")
        return CommittedMeasurement(stored, digest, committed, release.dataset.last_read)


def _folder(release: Release) -> str:
    return f"releases/{release.pk}/measurement"


def _counts_of(release: Release, fence: int | None = None) -> str:
    """Begins the names of a release's true counts; of those of one attempt, with its fence."""
    return f"counts-{release.pk}-" + ("" if fence is None else f"{fence}-")


def commit(release: Release, claim: Claim, measured: CommittedMeasurement) -> None:
    """Make the measurement a fact: its files are durable, and one transaction points at them and spends.

    Where the charge has settled on an earlier attempt's measurement, that one is the fact.
    """
    try:
        _commit(release, claim, measured)
    except SettledBeforeError as earlier:  # its file is looked at while no row is locked
        _commit(release, claim, CommittedMeasurement.again(earlier.outcome))


def _commit(release: Release, claim: Claim, measured: CommittedMeasurement) -> None:
    with transaction.atomic():
        claim.write(step="reconstructing")
        _check_right(release)
        _record(release, measured)


def _record(release: Release, measured: CommittedMeasurement) -> None:
    """Spend, and point at the measurement. Raises SettledBeforeError if the charge has settled on another one."""
    settled = ledger.spend(release.confirmed_charge, asdict(measured))
    if not settled or CommittedMeasurement(**settled) != measured:
        raise SettledBeforeError(settled)
    Release.objects.filter(pk=release.pk).update(
        state=Release.State.MEASURED, measured_at=database_now(), **asdict(measured)
    )


def _check_right(release: Release) -> None:
    """Whoever confirmed it may still release; inside a transaction, nobody takes that right until it ends."""
    with transaction.atomic():
        require_releaser(release.dataset, release.created_by_id, JobFailedError)


def finish(release_id: UUID, claim: Claim) -> None:
    """Post-process the stored measurement, write the bundle and the curator's comparison."""
    release = confirmed_release(release_id)
    if not release.is_ready:  # what is only made anew was allowed before
        with transaction.atomic():  # what is measured is the dataset's, whoever asked for it
            require_owner(release.dataset, JobFailedError)
    claim.step("reconstructing")
    reconstructed = results.reconstruct(release)
    claim.step("bundling")
    # Read before the files are written: what changes meanwhile shows itself at the next look.
    read_at, words = database_now(), DisplayTexts.of(described_release(release_id))
    page = results.page_of(reconstructed)
    artifacts = bundle.write(reconstructed, words, page)
    release.result = results.store_page(reconstructed, page)
    if release.dataset.has_records:
        _try_comparison(reconstructed)
    loose = file_imprints.loose_files(release)
    described_release(release_id)  # whoever changed rows for the time of this may not have put all back
    with transaction.atomic():
        claim.finish(JobState.DONE)
        Artifact.objects.filter(release=release).delete()
        Artifact.objects.bulk_create(artifacts)
        digests = dict(zip(("words", "promises", "spending"), words.digests, strict=True))
        ready = Release.objects.filter(pk=release.pk)
        ready.update(state=Release.State.READY, result=release.result, words_at=read_at, **digests)
        file_imprints.note(release, artifacts, loose)
        publish_as_decided(release)


def _try_comparison(reconstructed: AnyReconstructed) -> None:
    """Keep the comparison, or none: it is made of true counts, which must not decide whether there is a release.

    Not even by the job's time, which may end here: what is left of the job is short.
    """
    try:
        _keep_comparison(reconstructed)
    except (FileChangedFault, KeyLostFault) as error:  # no later attempt could open them
        log.error("comparison of %s: %s", reconstructed.release.pk, event_log.fault_of(error))
    except storage.StorageFault:
        raise
    except Exception as error:
        log.error("comparison of %s: %s", reconstructed.release.pk, event_log.fault_of(error))


def _keep_comparison(reconstructed: AnyReconstructed) -> None:
    """What the compare page shows, with the number of rows that were counted: a page must not add up many cells."""
    release, compared = reconstructed.release, {}
    true = records.stored_counts(release.true_counts)
    rows = {ROWS_COUNTED: runner_of(release).rows_counted(reconstructed.plan, true)}
    with release.counting():
        for code in languages():
            with override(code):
                compared[code] = presenter_of(release).compare(reconstructed, true)
    records.keep_comparison(release.dataset_id, release.pk, {**layered(compared), **rows})


def _is_measured(job: ReleaseJob) -> bool:
    return Release.objects.filter(pk=job.release_id).exclude(measurement="").exists()


@dataclass(frozen=True)
class RememberedMeasurement:
    """What the memory has of a charge: whether it is settled as spent, and the measurement, unless that is lost."""

    is_spent: bool = False
    measured: CommittedMeasurement | None = None

    @classmethod
    def of(cls, release: Release) -> RememberedMeasurement:
        """Asked while no row is locked: a file server may be slow. Raises BudgetOnHoldError and StorageFault."""
        try:
            outcome = ledger.outcome_of(release.confirmed_charge)
        except BudgetOnHoldError:
            raise
        except BudgetRefusedError:  # void
            return cls()
        if outcome is None:
            return cls()
        try:
            return cls(True, CommittedMeasurement.again(outcome))
        except JobFailedError:
            return cls(True)


def _close(release_id: UUID, claim: Claim, reason: str) -> None:
    """End a job. What is remembered as measured is a fact from now on, so that the curator can resume."""
    release = release_of(release_id)
    is_open = release.state == Release.State.REQUESTED
    remembered = RememberedMeasurement.of(release) if is_open else RememberedMeasurement()
    with transaction.atomic():
        claim.finish(JobState.FAILED, reason)
        if is_open and not _is_recorded(release, remembered):
            Release.objects.filter(pk=release.pk).update(state=Release.State.FAILED)


def _is_recorded(release: Release, remembered: RememberedMeasurement) -> bool:
    """Record what is remembered as measured, or void the reservation; whether there is a measurement.

    Raises SettledBeforeError if a worker that slept has remembered one since that was asked.
    """
    if remembered.measured is not None:
        with suppress(BudgetRefusedError):
            _record(release, remembered.measured)
            return True
    if not ledger.void(release.confirmed_charge) and not remembered.is_spent:
        raise SettledBeforeError({})
    return False


def void_left() -> None:
    """Void reservations of releases that ended while the memory could not be reached.

    Where a worker that slept remembered its measurement meanwhile, that is paid for, and the curator can resume it.
    """
    ended = Release.objects.filter(state__in=(Release.State.FAILED, Release.State.CANCELLED))
    for release in ended.filter(charge__state=LedgerEntry.State.RESERVED).select_related("charge__dataset"):
        # What was settled meanwhile the next sweep looks at.
        with suppress(BudgetOnHoldError, SettledBeforeError):
            _void_left(release)


def _void_left(release: Release) -> None:
    remembered = RememberedMeasurement.of(release)
    with transaction.atomic():
        if _is_recorded(release, remembered):
            stopped = ReleaseJob.objects.filter(release=release, state=JobState.CANCELLED)
            stopped.update(state=JobState.FAILED, failure=_(MEASURED_LATE))


def pending_files() -> set[str]:
    """Files that the memory names and no row does, and those of releases whose charge is not settled.

    Which of an attempt's files count is open until then, however long it sleeps. Raises MemoryFaultError.
    """
    measured = Release.objects.exclude(measurement="").values_list("pk", flat=True)
    names = {
        name
        for outcome in charge_journal.outcomes_beyond({pk.hex for pk in measured})
        for name in outcome.values()
    }
    for release in Release.objects.filter(charge__state=LedgerEntry.State.RESERVED):
        names |= set(storage.names_under(_folder(release)))
        own = f"{records.folder(release.dataset_id)}/{_counts_of(release)}"
        names |= {n for n in storage.names_under(records.folder(release.dataset_id)) if n.startswith(own)}
    return names
