"""Deleting a dataset's records for good."""

from __future__ import annotations

import errno

import pytest
from django.core.files.storage import FileSystemStorage, default_storage

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import receipts, records, services
from dpportal.datasets.models import Dataset


def files_of(dataset: Dataset) -> list[str]:
    return default_storage.listdir(records.folder(dataset.pk))[1]


@pytest.mark.slow
def test_no_file_with_true_values_is_left(ready) -> None:
    assert len(files_of(ready.dataset)) == 3  # the table, true counts, the comparison
    services.erase(ready.dataset, ready.created_by)
    assert files_of(ready.dataset) == []


@pytest.mark.slow
def test_release_ledger_and_downloads_stay(ready, client) -> None:
    services.erase(ready.dataset, ready.created_by)
    client.force_login(ready.created_by)
    assert client.get(f"/releases/{ready.pk}/").status_code == 200
    assert LedgerEntry.objects.filter(key=ready.pk, state="spent").count() == 1


def test_it_is_refused_while_a_release_is_in_work(requested) -> None:
    with pytest.raises(services.DatasetError, match="in work"):
        services.erase(requested.dataset, requested.created_by)
    assert files_of(requested.dataset)


def test_no_running_count_is_gone_through_before_that_is_known(requested) -> None:
    """What is erased of thousands of periods takes seconds, in which other pages would wait for their rows."""
    begun = []

    def begin(sender: object, **_: object) -> None:
        begun.append(sender)

    services.erasing.connect(begin)
    try:
        with pytest.raises(services.DatasetError, match="in work"):
            services.erase(requested.dataset, requested.created_by)
    finally:
        services.erasing.disconnect(begin)
    assert not begun


@pytest.mark.slow
def test_it_is_recorded(ready) -> None:
    services.erase(ready.dataset, ready.created_by)
    assert AuditEntry.objects.filter(action="erased records").count() == 1


@pytest.mark.slow
def test_nothing_can_be_released_afterwards(ready, client) -> None:
    services.erase(ready.dataset, ready.created_by)
    client.force_login(ready.created_by)
    page = client.post(f"/releases/new/{ready.dataset_id}/", follow=True).content.decode()
    assert "holds no records" in page


def test_to_press_twice_leaves_the_receipt_and_says_nothing_twice(ready) -> None:
    services.erase(ready.dataset, ready.created_by)
    first = receipts.receipt_of(ready.dataset_id).document
    services.erase(Dataset.objects.get(pk=ready.dataset_id), ready.created_by)
    assert receipts.receipt_of(ready.dataset_id).document == first
    assert AuditEntry.objects.filter(action="erased records").count() == 1


def test_to_press_once_more_deletes_what_the_storage_did_not_let_go(ready, monkeypatch) -> None:
    def read_only(_storage: object, name: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system", name)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(FileSystemStorage, "delete", read_only)
        with pytest.raises(services.DatasetError, match="deletes the files by itself"):
            services.erase(ready.dataset, ready.created_by)
        assert files_of(ready.dataset)
    services.erase(ready.dataset, ready.created_by)
    assert files_of(ready.dataset) == []
