"""Deleting a dataset's records for good."""

from __future__ import annotations

import pytest
from django.core.files.storage import default_storage

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import records, services
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
