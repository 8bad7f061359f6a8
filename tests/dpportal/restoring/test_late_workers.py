"""A worker that slept with a measurement, and remembers it while its job is given up, cancelled or voided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

import pytest

from dpportal.accounts.models import Role, User
from dpportal.budgets import charge_journal as charges, ledger
from dpportal.budgets.charge_journal import Charge
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.jobs import claims
from dpportal.jobs.claims import Claim, JobState
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.releases import execution, services
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.services import ReleaseError
from dpportal.streams import job_execution, services as stream_services
from dpportal.streams.models import Stream, StreamJob
from dpportal.streams.services import StreamError
from tests.dpportal.building import run_when_due
from tests.dpportal.streams import building

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def slept(requested, monkeypatch) -> dict[str, str]:
    """What the first attempt had measured when it fell asleep, before the charge's file was created."""
    stored: dict[str, str] = {}

    def sleep(_release: Release, _claim: Claim, measured: execution.CommittedMeasurement) -> None:
        stored.update(asdict(measured))
        raise RuntimeError

    with monkeypatch.context() as asleep:
        asleep.setattr(execution, "commit", sleep)
        execution.RELEASES.run(requested.pk)
    return stored


@pytest.fixture
def wakes(slept, monkeypatch) -> None:
    """The sleeper wakes after the charge was looked for and before it is void."""

    def wake(entry: LedgerEntry, void: Callable[[LedgerEntry], bool] = ledger.void) -> bool:
        charges.settle(entry, slept)
        return void(entry)

    monkeypatch.setattr(ledger, "void", wake)


def measured(release: Release) -> tuple[str, str, str]:
    found = Release.objects.select_related("charge").get(pk=release.pk)
    return found.state, found.charge.state, found.measurement


@pytest.mark.usefixtures("wakes")
def test_is_heard_while_its_job_is_given_up(requested, slept):
    claim = claims.claim(ReleaseJob, requested.pk)
    execution.RELEASES.close(ReleaseJob.objects.get(), claim, "It was tried three times.")
    assert measured(requested) == (Release.State.MEASURED, LedgerEntry.State.SPENT, slept["measurement"])


@pytest.mark.usefixtures("wakes")
def test_is_heard_while_its_curator_cancels(requested, slept):
    """The job stays, and finishes what is paid for."""
    claims.claim(ReleaseJob, requested.pk).put_on_hold()
    with pytest.raises(ReleaseError, match="measured already"):
        services.cancel(requested)
    run_when_due(execution.RELEASES, requested.pk)
    assert measured(requested) == (Release.State.READY, LedgerEntry.State.SPENT, slept["measurement"])


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_is_heard_after_the_end_by_a_memory_that_took_no_file_then(requested, slept, monkeypatch, end):
    def fault(*_: object, **__: object) -> Any:
        raise MemoryFaultError

    claim = claims.claim(ReleaseJob, requested.pk)
    with monkeypatch.context() as full:
        full.setattr(charges, "settle", fault)
        if end == "failed":
            execution.RELEASES.close(ReleaseJob.objects.get(), claim, "It was tried three times.")
        else:
            claim.put_on_hold()
            services.cancel(requested)
    charges.settle(requested.charge, slept)
    execution.void_left()
    assert measured(requested) == (Release.State.MEASURED, LedgerEntry.State.SPENT, slept["measurement"])
    services.resume(requested)
    execution.RELEASES.run(requested.pk)
    assert measured(requested)[0] == Release.State.READY


@pytest.fixture
def paid(dataset, monkeypatch) -> Stream:
    """A stream whose worker died after its charge was remembered; its person lost the right to open it meanwhile."""
    stream = building.requested_stream(dataset)

    def killed(entry: LedgerEntry, outcome: Any = None) -> Any:
        charges.settle(entry, outcome or {})
        raise RuntimeError

    with monkeypatch.context() as dying:
        dying.setattr(ledger, "spend", killed)
        job_execution.STREAM_JOBS.run(stream.jobs.get().pk)
    User.objects.filter(pk=dataset.owner_id).update(role=Role.ANALYST)
    job_execution.STREAM_JOBS.run(stream.jobs.get().pk)
    return stream


def test_a_stream_that_is_paid_for_waits_for_the_right_to_open_it(dataset, paid):
    stream, job = paid, paid.jobs.get()
    people = User.objects.filter(pk=dataset.owner_id)
    assert job.state == JobState.QUEUED
    people.update(role=Role.CURATOR)
    run_when_due(job_execution.STREAM_JOBS, job.pk)
    stream.refresh_from_db()
    assert (stream.state, stream.charge.state) == (Stream.State.OPEN, LedgerEntry.State.SPENT)


def test_records_can_be_erased_while_a_stream_waits_for_the_right_to_open_it(
    dataset, paid, django_capture_on_commit_callbacks
):
    User.objects.filter(pk=dataset.owner_id).update(role=Role.CURATOR)
    with django_capture_on_commit_callbacks(execute=True):
        dataset_services.erase(dataset, dataset.owner)
    paid.refresh_from_db()
    assert (paid.state, paid.charge.state) == (Stream.State.FAILED, LedgerEntry.State.SPENT)
    assert paid.jobs.get().state == JobState.CANCELLED


def test_a_stream_that_is_paid_for_after_its_end_is_opened(dataset, monkeypatch):
    """The memory took no file when the job was given up; a worker that slept created it afterwards."""
    stream = building.requested_stream(dataset)
    job = stream.jobs.get()

    def fault(*_: object, **__: object) -> Any:
        raise MemoryFaultError

    with monkeypatch.context() as full:
        full.setattr(charges, "settle", fault)
        claim = claims.claim(StreamJob, job.pk)
        job_execution.STREAM_JOBS.close(job, claim, "It was tried three times.")
    charges.settle(stream.charge, {})
    job_execution.void_left()
    job_execution.STREAM_JOBS.run(job.pk)
    stream.refresh_from_db()
    assert (stream.state, stream.charge.state) == (Stream.State.OPEN, LedgerEntry.State.SPENT)


ENDINGS = {
    "refused": lambda job, claim: job_execution.STREAM_JOBS.close(job, claim, "It was refused."),
    "interrupted": lambda job, claim: job_execution.STREAM_JOBS.close_interrupted(
        job, claim, "It died thrice."
    ),
}


@pytest.mark.parametrize("end", ENDINGS)
def test_a_stream_that_is_paid_for_while_its_job_is_closed_is_opened(dataset, monkeypatch, end):
    """The sleeper wakes after the charge was looked for and before it is void."""
    stream = building.requested_stream(dataset)
    job = stream.jobs.get()
    claim = claims.claim(StreamJob, job.pk)

    def wake(entry: LedgerEntry, void: Callable[[LedgerEntry], bool] = ledger.void) -> bool:
        charges.settle(entry, {})
        return void(entry)

    with monkeypatch.context() as waking:
        waking.setattr(ledger, "void", wake)
        ENDINGS[end](job, claim)
    job.refresh_from_db()
    assert (job.state, job.stream.state) == (JobState.QUEUED, Stream.State.OPENING)
    run_when_due(job_execution.STREAM_JOBS, job.pk)
    stream.refresh_from_db()
    assert (stream.state, stream.charge.state) == (Stream.State.OPEN, LedgerEntry.State.SPENT)
    assert stream.dataset.budgets.get().spent == stream.charge.amount


def test_a_stream_that_is_void_is_paid_by_nobody_who_wakes_later(dataset):
    stream = building.requested_stream(dataset)
    job = stream.jobs.get()
    job_execution.STREAM_JOBS.close(job, claims.claim(StreamJob, job.pk), "It was refused.")
    with pytest.raises(ledger.BudgetRefusedError):
        ledger.spend(stream.charge)
    stream.refresh_from_db()
    assert (stream.state, stream.charge.state) == (Stream.State.FAILED, LedgerEntry.State.VOID)


def test_a_stream_whose_periods_people_have_seen_is_not_opened_again(dataset):
    """As after a restore: its charge stays spent, and its job ends in words."""
    stream = building.requested_stream(dataset)
    charges.settle(stream.charge, {})
    assert journal.create(f"streams/{stream.pk}/1")
    job = stream.jobs.get()
    job_execution.STREAM_JOBS.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED and "Open a new running count" in job.failure
    stream.refresh_from_db()
    assert (stream.state, stream.charge.state) == (Stream.State.FAILED, LedgerEntry.State.SPENT)


def missing_charge(entry: LedgerEntry) -> None:
    """One under another protection, that only the memory has."""
    charge = replace(Charge.of(entry, {}), key=uuid4().hex, unit_column="colour", amount="5")
    place = LedgerEntry.objects.filter(dataset=entry.dataset, state=LedgerEntry.State.SPENT).count() + 1
    assert journal.create(f"places/{entry.dataset_id}/{place}", {"key": charge.key})
    assert journal.create(f"charges/{entry.dataset_id}/{charge.key}", asdict(charge))


def test_nothing_is_made_public_while_a_charge_is_missing(ready, curator):
    """Its page could not say what else was spent."""
    missing_charge(ready.charge)
    with pytest.raises(ReleaseError, match="administrator"):
        services.publish(ready, curator)
    ready.refresh_from_db()
    assert not ready.is_public


def test_nothing_is_made_public_of_a_copy_while_a_charge_is_missing(ready, curator, dataset):
    """What was promised of one table binds its copies: whether the total is private is not known yet."""
    copy = Dataset.objects.create(
        owner=dataset.owner, name="copy", columns=[], duplicate_of=dataset, state=Dataset.State.STORED
    )
    charge = replace(Charge.of(ready.charge, {}), key=uuid4().hex)
    assert journal.create(f"charges/{copy.pk}/{charge.key}", asdict(charge))
    with pytest.raises(ReleaseError, match="administrator"):
        services.publish(ready, curator)


def test_no_running_count_is_made_public_while_a_charge_is_missing(dataset, curator):
    stream = building.open_stream(dataset)
    missing_charge(stream.charge)
    with pytest.raises(StreamError, match="administrator"):
        stream_services.publish(stream, curator)
    stream.refresh_from_db()
    assert not stream.is_public
