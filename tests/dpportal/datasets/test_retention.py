"""Records are deleted on the day that was chosen, after a warning; what was released stays."""

from __future__ import annotations

import datetime as dt

import pytest
from django.core import mail
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import retention, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from tests.dpportal import building


def in_days(days: int) -> dt.date:
    return timezone.localdate() + dt.timedelta(days=days)


def chosen(dataset: Dataset, days: int) -> Dataset:
    """As if the day had been chosen long ago."""
    Dataset.objects.filter(pk=dataset.pk).update(erase_on=in_days(days))
    return Dataset.objects.get(pk=dataset.pk)


@pytest.mark.slow
def test_on_the_day_the_records_go_and_the_release_stays(ready):
    dataset = chosen(ready.dataset, 0)
    table, files = dataset.table, [artifact.stored for artifact in ready.artifacts.all()]
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.is_erased and not default_storage.exists(table)
    assert files and all(map(default_storage.exists, files))
    erased = AuditEntry.objects.get(action="erased records")
    assert erased.detail == f"on the chosen day, {in_days(0)}"
    retention.sweep()  # and nothing more is to be done


def test_a_release_in_work_is_waited_for(requested):
    dataset = chosen(requested.dataset, -1)
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.has_records and default_storage.exists(dataset.table)


def test_owners_are_warned_once_for_each_day(dataset, settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    dataset.owner.email = "owner@example.org"
    dataset.owner.save()
    chosen(dataset, retention.WARNED_DAYS + 1)
    retention.sweep()
    assert not AuditEntry.objects.filter(action=retention.WARNED).exists()
    for _ in range(2):
        chosen(dataset, retention.WARNED_DAYS)
        retention.sweep()
    building.deliver_mail()
    [letter] = mail.outbox
    assert letter.to == ["owner@example.org"] and dataset.name in letter.subject
    chosen(dataset, 3)
    retention.sweep()
    building.deliver_mail()
    assert len(mail.outbox) == 2


def test_an_owner_chooses_the_day_and_everyone_sees_it_coming(client, dataset):
    client.force_login(dataset.owner)
    page = reverse("datasets:retention", args=[dataset.pk])
    for wrong in (in_days(0), in_days(-3)):
        answer = client.post(page, {"day": wrong.isoformat()})
        assert answer.status_code == 422 and "Choose a day to come" in answer.text
    assert client.post(page, {"day": in_days(20).isoformat()}).status_code == 302
    home = reverse("datasets:home", args=[dataset.pk])
    assert "in 20 days" in " ".join(client.get(home).text.split())
    assert client.post(page, {"day": ""}).status_code == 302
    assert "The records are deleted on" not in client.get(home).text
    details = AuditEntry.objects.filter(action="chose the day of erasure").order_by("pk")
    assert [entry.detail for entry in details] == [
        f"{in_days(20)}; before: none",
        f"none; before: {in_days(20)}",
    ]


def test_a_day_that_comes_is_not_chosen_for_what_is_erased(client, dataset):
    chosen(dataset, 0)
    retention.sweep()
    client.force_login(dataset.owner)
    answer = client.post(reverse("datasets:retention", args=[dataset.pk]), {"day": in_days(5).isoformat()})
    assert answer.status_code == 422 and "no records" in answer.text


def test_a_day_that_was_put_off_meanwhile_is_kept(dataset):
    chosen(dataset, 0)
    due = Dataset.objects.get(pk=dataset.pk)
    chosen(dataset, 30)
    with pytest.raises(DatasetError, match="changed meanwhile"):
        services.erase(due, due.owner, "its day came", erase_on=due.erase_on)
    assert Dataset.objects.get(pk=dataset.pk).has_records
