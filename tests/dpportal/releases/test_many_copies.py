"""Near copies of a table: a charge under everyone's lock, and a page for everyone, cost one as they do many."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.budgets import ledger
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.releases import services, tasks
from dpportal.releases.models import ChangedPromise, Release, ReleaseJob
from mechanisms.accounting import Definition
from tests.dpportal import building

FEW, MANY = 2, 6


def charged(dataset: Dataset, amount: str = "0.1") -> LedgerEntry:
    return ledger.reserve(
        dataset,
        Decimal(amount),
        ledger.Booking(uuid.uuid4(), "A release"),
        definition=Definition.PURE,
        by=dataset.owner,
    )


def bind(release: Release, administrator, names: range) -> list[Dataset]:
    """So many more copies of its table, each with a release that says nothing yet of what is spent beside it."""
    own, copies = release.dataset, []
    for name in map(str, names):
        table = {"table": own.table, "columns": own.columns, "fingerprint": name, "granted_fingerprint": name}
        copy = Dataset.objects.create(owner=own.owner, name=name, state="stored", **table)
        datasets.declare_unit(copy, neighbours="add-remove", unit_column="", max_rows=1)
        copies.append(building.granted(copy, administrator))
    together = [own, *own.same_people.all(), *copies]
    for each in together:
        each.same_people.add(*(other for other in together if other != each))
    for copy in copies:
        entry = charged(copy)
        ledger.spend(entry)
        made = Release.objects.get(pk=release.pk)
        made.pk, made.dataset, made.charge, made._state.adding = uuid.uuid4(), copy, entry, True
        made.save(force_insert=True)
        ReleaseJob.objects.create(release=made, state=JobState.DONE)
    return copies


@pytest.mark.slow
def test_more_copies_cost_no_more_queries(client, ready, administrator, curator):
    services.publish(ready, curator)
    counted = []
    for names in (range(FEW), range(FEW, MANY)):
        copy = bind(ready, administrator, names)[0]
        ReleaseJob.objects.update(state=JobState.DONE)
        ChangedPromise.objects.all().delete()
        with CaptureQueriesContext(connection) as reserving:
            entry = charged(copy)
        costs = [len(reserving)]  # at once: a request forgets them
        with CaptureQueriesContext(connection) as spending:
            ledger.spend(entry)
        costs.append(len(spending))
        assert not ReleaseJob.objects.exclude(state=JobState.DONE).exists()  # noted only
        page = reverse("releases:public", args=[ready.pk])
        client.get(page)  # what is kept from one page to the next
        with CaptureQueriesContext(connection) as reading:
            client.get(page)
        counted.append([*costs, len(reading)])
    assert counted[0] == counted[1]
    assert max(counted[0]) < 30
    with CaptureQueriesContext(connection) as comparing:
        tasks._compare_charged()
    assert len(comparing) < 15 + 6 * (MANY + 1)
    assert ReleaseJob.objects.filter(state=JobState.QUEUED).count() == MANY + 1
    assert not ChangedPromise.objects.exists()


def test_all_that_is_bound_is_locked_by_one_statement(ready, administrator):
    bind(ready, administrator, range(FEW))
    with CaptureQueriesContext(connection) as asked:
        datasets.lock_dataset(ready.dataset)
    assert len(asked) == 2  # the lock, and the dataset as it is then


@pytest.mark.django_db
def test_what_is_charged_while_files_are_compared_stays_noted(ready, monkeypatch):
    tasks.budget_charged(ready.dataset)
    monkeypatch.setattr(tasks, "rewrite_files", lambda _releases: tasks.budget_charged(ready.dataset))
    tasks._compare_charged()
    assert ChangedPromise.objects.filter(dataset=ready.dataset).exists()
