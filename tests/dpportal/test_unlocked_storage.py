"""While a file server is waited for, no row is locked and SQLite's one lock is free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from dpportal.budgets import charge_journal as charges, ledger
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import domain_fit, domain_fit_job, records, services, stored_fits
from dpportal.datasets.derived import described_columns
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.jobs import claims
from dpportal.platform import storage
from dpportal.releases import execution
from dpportal.releases.models import Release, ReleaseJob
from tests.dpportal import building
from tests.dpportal.unlocked_storage import LockedMeanwhileError, unlocked_storage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _unlocked() -> Iterator[None]:
    with unlocked_storage():
        yield


def test_the_guard_sees_a_file_that_is_touched_inside_a_transaction(tmp_path):
    default_storage.exists("a")
    with pytest.raises(LockedMeanwhileError), transaction.atomic():
        default_storage.save("a", ContentFile(b""))
    with pytest.raises(LockedMeanwhileError), transaction.atomic():
        storage.keep(tmp_path / "a", "a")


def test_how_a_file_is_read_is_changed(client, curator):
    client.force_login(curator)
    dataset = building.uploaded(client, b"name,age\nAnna,1'031\nBob,44\n")
    services.change_parse_options(dataset, replace(records.options_of(dataset), thousands="'"), curator)
    dataset.refresh_from_db()
    assert dataset.has_records and described_columns(dataset)[1]["kind"] == "integer"
    services.change_parse_options(dataset, replace(records.options_of(dataset), delimiter=";"), curator)
    dataset.refresh_from_db()
    assert dataset.is_converting


def test_what_was_read_anew_meanwhile_is_not_given_other_columns(dataset, monkeypatch):
    def meanwhile(dataset: Dataset, options: object) -> list[dict[str, str]]:
        Dataset.objects.filter(pk=dataset.pk).update(table="another")
        return []

    monkeypatch.setattr(services, "columns_under", meanwhile)
    options = replace(records.options_of(dataset), thousands="'")
    with pytest.raises(DatasetError, match="changed meanwhile"):
        services.change_parse_options(dataset, options, dataset.owner)
    dataset.refresh_from_db()
    assert len(dataset.columns) == 2


@pytest.mark.slow
def test_a_fit_is_asked_for_and_forgotten(dataset, django_capture_on_commit_callbacks):
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    first = domain_fit.current_digest(dataset)
    services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    with django_capture_on_commit_callbacks(execute=True):
        domain_fit.ask(dataset)
    assert first and stored_fits.stored(dataset.pk, first) is None


@pytest.mark.slow
def test_a_release_is_measured_finished_and_erased(ready):
    services.erase(ready.dataset, ready.dataset.owner)
    assert Dataset.objects.get(pk=ready.dataset_id).is_erased


@pytest.fixture
def slept(requested, monkeypatch) -> dict[str, str]:
    """The file of the charge is there; the transaction that says so is not."""
    with monkeypatch.context() as dying:
        dying.setattr(execution, "_commit", lambda release, _claim, made: _settle(release, made))
        execution.RELEASES.run(requested.pk)
    return dict(charges.charge_of(requested.charge).outcome)


def _settle(release: Release, made: execution.CommittedMeasurement) -> None:
    charges.settle(release.charge, asdict(made))
    raise RuntimeError


def state_of(release: Release) -> tuple[str, str]:
    found = Release.objects.select_related("charge").get(pk=release.pk)
    return found.state, found.charge.state


MEASURED = (Release.State.MEASURED, LedgerEntry.State.SPENT)


@pytest.mark.slow
def test_a_job_that_ends_finds_what_was_measured(requested, slept):
    claim = claims.claim(ReleaseJob, requested.pk)
    assert claim is not None
    execution.RELEASES.close(ReleaseJob.objects.get(), claim, "It was tried three times.")
    assert state_of(requested) == MEASURED


@pytest.mark.slow
def test_the_sweep_finds_what_was_measured(requested, slept):
    Release.objects.filter(pk=requested.pk).update(state=Release.State.FAILED)
    execution.void_left()
    assert state_of(requested) == MEASURED


@pytest.mark.slow
def test_another_attempt_that_was_faster_is_the_one(requested, slept, monkeypatch):
    monkeypatch.setattr(ledger, "outcome_of", lambda _entry: None)  # asked just before
    assert building.run_when_due(execution.RELEASES, requested.pk)
    found = Release.objects.get(pk=requested.pk)
    assert found.is_ready and found.measurement == slept["measurement"]
