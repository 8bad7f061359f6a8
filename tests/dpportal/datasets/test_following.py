"""A dataset that is followed to a table of which another one spends is bound to that one, or spends nothing."""

from __future__ import annotations

import uuid
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.db.models import F
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import ledger
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets import attach_table, near_duplicates, services
from dpportal.datasets.models import Dataset
from dpportal.releases import execution, tasks as release_tasks
from dpportal.tables.connections.models import Connection, SharedTable
from mechanisms.accounting import Definition
from tests.dpportal import building

pytestmark = pytest.mark.django_db


def remote(owner, name: str, relation: str) -> Dataset:
    server, _new = Connection.objects.get_or_create(
        name="server", defaults={"host": "h", "database": "d", "user": "u", "credential": "x"}
    )
    table = SharedTable.objects.create(connection=server, title=name, schema="s", table=name)
    facts = {"format": "elsewhere", "identity": name, "definition": {}, "left_out": []}
    return Dataset.objects.create(
        owner=owner, name=name, state="stored", source=table, columns=[{"name": "age", "type": "int4"}],
        facts=facts, relations=[relation], fingerprint=name, options={},
    )  # fmt: skip


def spend(dataset: Dataset) -> None:
    booking = ledger.Booking(uuid.uuid4(), "A release", total_public=True)
    entry = ledger.reserve(dataset, Decimal("0.1"), booking, definition=Definition.PURE, by=dataset.owner)
    ledger.spend(entry, {})


def test_one_that_is_followed_to_anothers_table_spends_nothing_until_both_are_bound(
    client, curator, administrator, monkeypatch
):
    hidden, other = remote(curator, "visits", "of visits"), remote(curator, "contacts", "of contacts")
    for dataset, neighbours in ((hidden, "add-remove"), (other, "replace-one")):
        services.declare_unit(dataset, neighbours=neighbours, unit_column="", max_rows=1)
        building.granted(dataset, administrator)
    spend(hidden)
    now = {"identity": "contacts", "definition": {}, "relations": ["of visits"], "types": {"age": "int4"}}
    monkeypatch.setattr(attach_table, "_looked_at", lambda _dataset: SimpleNamespace(**now))
    client.force_login(administrator)
    chosen = {"action": "follow_tables", "_selected_action": [other.pk]}
    page = client.post(reverse("admin:datasets_dataset_changelist"), chosen).content.decode()
    assert f"visits ({curator.get_username()}): a table of the same database" in page
    mark = attach_table.difference(other).mark
    attach_table.follow(other, administrator, mark=mark, reason="Moved")
    assert f"dataset {hidden.pk}" in AuditEntry.objects.get(action="followed a table").detail
    other.refresh_from_db()
    with pytest.raises(BudgetRefusedError, match="a further grant"):
        spend(other)
    with pytest.raises(BudgetRefusedError, match="nearly the same table"):
        building.granted(other, administrator)
    building.granted(other, administrator, knowing=True)
    other.refresh_from_db()
    assert hidden in other.bound_together and other.total_stays_private
    assert attach_table.difference(other).similar == ()
    attach_table.follow(other, administrator, mark=mark, reason="Looked at once more")
    spend(Dataset.objects.get(pk=other.pk))
    newcomer = remote(curator, "contacts again", "of contacts")
    assert other.pk in {each.dataset.pk for each in near_duplicates.similar_datasets(newcomer)}


@pytest.mark.slow
def test_a_release_that_was_reserved_before_waits_for_the_grant(requested):
    """Or it would count the table that its dataset follows now, at the cost of the one that was granted."""
    dataset = Dataset.objects.filter(pk=requested.dataset_id)
    dataset.update(granted_fingerprint="")
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert not requested.measurement and requested.charge.is_reserved
    dataset.update(granted_fingerprint=F("fingerprint"))
    release_tasks.resume_on_hold(requested.dataset_id)
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert requested.is_ready
