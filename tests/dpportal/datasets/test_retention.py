"""Records are deleted on the day that was chosen, after a warning; what was released stays."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from django.core import mail
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records, retention, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from dpportal.operations import stored_files, sweeping
from dpportal.releases import services as releases
from tests.dpportal import building


def in_days(days: int) -> dt.date:
    return timezone.localdate() + dt.timedelta(days=days)


def chosen(dataset: Dataset, days: int) -> Dataset:
    """As if the day had been chosen long ago."""
    Dataset.objects.filter(pk=dataset.pk).update(erase_on=in_days(days))
    return Dataset.objects.get(pk=dataset.pk)


def warned(dataset: Dataset, days: int) -> Dataset:
    """As if its owners had been warned so many days ago."""
    audit.record(dataset.owner, retention.WARNED, dataset, str(dataset.erase_on))
    building.age_record(days=days)
    return dataset


@pytest.mark.slow
def test_on_the_day_the_records_go_and_the_release_stays(ready):
    dataset = warned(chosen(ready.dataset, 0), 14)
    table, files = dataset.table, [artifact.stored for artifact in ready.artifacts.all()]
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.is_erased and not default_storage.exists(table)
    assert files and all(map(default_storage.exists, files))
    erased = AuditEntry.objects.get(action="erased records")
    assert erased.detail == f"on the chosen day, {in_days(0)}"
    retention.sweep()  # and nothing more is to be done


@pytest.mark.slow
def test_the_sweep_s_whole_run_takes_the_records_and_no_file_that_readers_have(client, ready, monkeypatch):
    """Files that nothing names go at once here, so that one that was forgotten would go, too."""
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", dt.timedelta(hours=-1))
    releases.publish(ready, ready.created_by)
    address = reverse("releases:download", args=[ready.pk, "release.json"])
    before = b"".join(client.get(address))
    dataset = warned(chosen(ready.dataset, 0), 14)
    table = dataset.table
    for _ in range(2):
        sweeping.sweep_files()
    dataset.refresh_from_db()
    assert dataset.is_erased and not default_storage.exists(table)
    assert client.get(ready.get_absolute_url()).status_code == 200
    assert b"".join(client.get(address)) == before
    assert not list(stored_files.faults())


def test_a_release_in_work_is_waited_for(requested):
    dataset = warned(chosen(requested.dataset, -1), 14)
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
    warned(chosen(dataset, 0), 14)
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


def read_anew(client, curator, how: str) -> Dataset:
    """An upload with a chosen day, whose reading under other options then ended without a table."""
    client.force_login(curator)
    content = b"name,age\nAnna,31\nBob,44\n"
    if how == "duplicate":
        building.uploaded(client, content)
        content += b"Note: two people,\n"
    dataset = building.uploaded(client, content)
    retention.choose_day(dataset, in_days(1), curator)
    options = records.options_of(dataset)
    change = {"note_words": ("Note",)} if how == "duplicate" else {"delimiter": ";"}
    services.change_parse_options(dataset, replace(options, **change), curator)
    if how == "cancelled":
        services.cancel_reading(dataset, curator)
    elif how == "refused":
        CONVERSIONS.close(dataset.conversion, claims.claim(Conversion, dataset.pk), "It is no table.")
    else:
        CONVERSIONS.run(dataset.pk)
    return Dataset.objects.get(pk=dataset.pk)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["refused", "cancelled", "duplicate"])
def test_a_day_holds_whatever_became_of_a_later_reading(client, curator, how):
    dataset = read_anew(client, curator, how)
    assert dataset.state == how and dataset.upload and dataset.table
    home = reverse("datasets:home", args=[dataset.pk])
    assert "The records are deleted on" in client.get(home).text
    page = reverse("datasets:retention", args=[dataset.pk])
    assert client.post(page, {"day": str(in_days(2))}).status_code == 302
    warned(chosen(dataset, 0), 14)
    retention.sweep()
    assert Dataset.objects.get(pk=dataset.pk).is_erased
    assert not any(map(default_storage.exists, (dataset.upload, dataset.table)))


def test_who_was_not_warned_in_time_is_warned_and_waited_for(client, dataset):
    """As where the portal was down for weeks."""
    chosen(dataset, -5)
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.has_records and AuditEntry.objects.filter(action=retention.WARNED).count() == 1
    client.force_login(dataset.owner)
    home = " ".join(client.get(reverse("datasets:home", args=[dataset.pk])).text.split())
    assert f"in {retention.NOTICE_DAYS} days" in home
    building.age_record(days=retention.NOTICE_DAYS - 1)
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.has_records
    building.age_record(days=1)
    retention.sweep()
    dataset.refresh_from_db()
    assert dataset.is_erased


def test_a_day_that_is_chosen_near_holds(dataset):
    retention.choose_day(dataset, in_days(1), dataset.owner)
    assert retention.last_day(Dataset.objects.get(pk=dataset.pk)) == in_days(1)
    assert AuditEntry.objects.filter(action=retention.WARNED).count() == 1


def test_a_dataset_that_somebody_holds_keeps_no_other_waiting(curator, monkeypatch):
    held, other = (building.stored_dataset(curator, name) for name in ("held", "other"))
    for each in (held, other):
        warned(chosen(each, 0), 14)
    lock = services.lock_dataset

    def locked(dataset: Dataset, *others: Dataset) -> None:
        if dataset.pk == held.pk:
            raise OperationalError("canceling statement due to lock timeout")
        lock(dataset, *others)

    monkeypatch.setattr(services, "lock_dataset", locked)
    retention.sweep()
    states = dict(Dataset.objects.values_list("name", "state"))
    assert states == {"held": "stored", "other": "erased"}


def test_a_form_without_a_day_takes_no_day_away(client, dataset):
    client.force_login(dataset.owner)
    address = reverse("datasets:retention", args=[dataset.pk])
    client.post(address, {"day": "2099-01-01"})
    assert client.post(address, {"date": ""}).status_code == 422
    dataset.refresh_from_db()
    assert str(dataset.erase_on) == "2099-01-01"
    client.post(address, {"day": ""})
    dataset.refresh_from_db()
    assert dataset.erase_on is None


def test_who_chooses_a_day_again_has_the_owners_warned_again(dataset, curator, administrator):
    """After it was taken back, their last news was that nothing is deleted."""
    day = in_days(10)
    for chosen_day in (day, None, day):
        retention.choose_day(dataset, chosen_day, administrator if chosen_day else curator)
    told = AuditEntry.objects.filter(action=retention.WARNED, detail=str(day))
    assert told.count() == 2
    retention.sweep()  # and it is not said a third time
    assert told.count() == 2
