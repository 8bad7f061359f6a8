"""Records that were erased since the copy that the database was put back from are erased again."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.conf import settings
from django.db import transaction
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import erasure_journal, keys, receipts, services
from dpportal.datasets.models import Dataset
from dpportal.management.commands.check_restored import report
from dpportal.operations import restore_check, sweeping, verification
from dpportal.operations.strange_files import strange_files
from dpportal.platform import journal
from tests.dpportal import building

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def put_back(dataset):
    """Erases the dataset, and puts the database back as far as it tells of that; returns its receipt."""
    keys.for_writing(dataset.pk)
    before = {name: getattr(dataset, name) for name in ("state", "upload", "table", "rows")}
    key = keys.key_of(dataset.pk)
    services.erase(dataset, dataset.owner, "their will")
    receipt = receipts.receipt_of(dataset.pk).document
    receipts.ErasureReceipt.objects.all().delete()
    Dataset.objects.filter(pk=dataset.pk).update(**before)
    key.save(force_insert=True)
    return receipt


def test_they_are_erased_again_with_the_receipt_of_then(dataset, put_back):
    dataset.refresh_from_db()
    assert (dataset.state, dataset.rows) == ("stored", building.ROWS)
    found = restore_check.check()
    dataset.refresh_from_db()
    assert (dataset.state, dataset.table) == ("erased", "") and dataset.rows != building.ROWS
    assert keys.key_of(dataset.pk) is None and receipts.receipt_of(dataset.pk).document == put_back
    assert found.erased == [dataset] and not found.troubles
    assert report(found) == [
        f"Erased again, since its records were erased after the copy was made: {dataset.name}"
    ]
    [line] = AuditEntry.objects.filter(action=receipts.ERASED_AGAIN)
    assert line.by is None and line.subject == f"dataset {dataset.pk}"
    assert restore_check.check().erased == []


def test_the_sweep_does_it_too_and_the_page_health_names_it(client, administrator, dataset, put_back):
    assert any("has that they were erased" in line for line in verification.problems([]))
    sweeping.sweep_jobs()
    assert not any("has that they were erased" in line for line in verification.problems([]))
    assert Dataset.objects.get(pk=dataset.pk).state == "erased"
    client.force_login(administrator)
    page = client.get("/health/portal/").content.decode()
    assert "Records erased again after a restore" in page and dataset.name in page
    client.force_login(dataset.owner)
    record = client.get(reverse("dataset_record", args=[dataset.pk])).content.decode()
    assert "<td>the portal</td><td>erased records after a restore</td>" in record


@pytest.mark.parametrize("look", [restore_check.check, sweeping.sweep_files])
def test_an_erasure_is_remembered_whose_folder_alone_was_made(dataset, look):
    """Whoever erased died before the file was there."""
    services.erase(dataset, dataset.owner)
    file = settings.MEMORY_DIR / erasure_journal.FOLDER / str(dataset.pk) / erasure_journal.RECEIPT
    file.unlink()
    assert dataset.pk in erasure_journal.known_ids()
    look()
    assert erasure_journal.receipt_of(dataset.pk) == receipts.receipt_of(dataset.pk).document


def test_erasing_does_not_wait_for_the_memory(dataset):
    away = settings.MEMORY_DIR.rename(settings.MEMORY_DIR.with_suffix(".away"))
    services.erase(dataset, dataset.owner)
    away.rename(settings.MEMORY_DIR)
    assert not erasure_journal.known_ids()
    sweeping.sweep_jobs()
    assert erasure_journal.receipt_of(dataset.pk) == receipts.receipt_of(dataset.pk).document
    assert not [name for name in strange_files() if name.startswith("memory/")]


def test_an_erasure_whose_commit_failed_is_not_done_later(dataset):
    with suppress(RuntimeError), transaction.atomic():
        services.erase(dataset, dataset.owner)
        raise RuntimeError("as where the database ends at the last moment")
    assert not erasure_journal.known_ids()
    sweeping.sweep_jobs()
    assert Dataset.objects.get(pk=dataset.pk).state == "stored" and receipts.receipt_of(dataset.pk) is None


def test_without_the_memory_nothing_is_claimed(dataset, put_back):
    (settings.MEMORY_DIR / journal.MARK).unlink()
    assert restore_check.check().erased == []
    assert Dataset.objects.get(pk=dataset.pk).state == "stored"
