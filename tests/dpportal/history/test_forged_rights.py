"""Whoever has the database alone is nobody's administrator and opens nobody's dataset, not for a second either."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import models
from django.utils import timezone

from dpportal.accounts.models import Role
from dpportal.approvals.models import Approval
from dpportal.budgets import second_person
from dpportal.budgets.account_amounts import require_amounts
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets.models import Dataset, Right, Share
from dpportal.datasets.near_duplicates import TableSketch
from dpportal.history.imprints import ForgedRowError
from dpportal.operations import verification
from dpportal.platform.two_people import SPENDS
from dpportal.releases.as_confirmed import described_release
from dpportal.releases.models import Release
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.history.test_forged_meanwhile import WORDS, forged

pytestmark = pytest.mark.django_db


def test_nothing_is_reserved_of_what_no_grant_gave(draft):
    """As by whoever takes the guards away, raises a total, and puts all back."""
    budget = draft.account
    with forged(budget, total=Decimal(100)), pytest.raises(BudgetRefusedError, match=WORDS):
        building.confirm(draft)
    assert building.confirm(draft)


def test_nothing_is_drawn_that_no_grant_covers(requested):
    grant = LedgerEntry.objects.get(kind=LedgerEntry.Kind.GRANT, dataset=requested.dataset)
    budget = requested.charge.budget
    less = {"total": budget.reserved, "reserved": budget.reserved, "spent": 0}
    with forged(budget, total=Decimal(100)), pytest.raises(ForgedRowError, match="budget"):
        described_release(requested.pk)
    with forged(grant, amount=Decimal(100)), pytest.raises(ForgedRowError, match="line"):
        require_amounts([Budget.objects.get(pk=budget.pk)])
    with forged(budget, **less), pytest.raises(ForgedRowError, match="budget"):
        require_amounts([Budget.objects.get(pk=budget.pk)])


def test_whoever_is_made_an_administrator_past_the_portal_is_nobody(client, curator):
    client.force_login(curator)
    assert client.get("/datasets/").status_code == 200
    with forged(curator, role=Role.ADMINISTRATOR, is_staff=True, is_superuser=True):
        assert client.get("/office/").status_code == 302
    assert client.get("/datasets/").status_code == 200


def test_a_share_or_an_owner_that_came_past_the_portal_opens_nothing(client, dataset, other_curator):
    client.force_login(other_curator)
    with unguarded():
        [share] = models.QuerySet(Share).bulk_create(
            [Share(dataset=dataset, person=other_curator, right=Right.OWN, at=timezone.now())]
        )
    assert client.get(f"/datasets/{dataset.pk}/").status_code == 404
    with unguarded():
        models.QuerySet(Share).filter(pk=share.pk).delete()
    with forged(dataset, owner_id=other_curator.pk):
        assert client.get(f"/datasets/{dataset.pk}/").status_code == 404


def test_an_approval_that_came_past_the_portal_is_nobodys(dataset, administrator, settings):
    settings.TWO_PEOPLE = replace(settings.TWO_PEOPLE, acts=frozenset({SPENDS}), epsilon=Decimal("0.15"))
    building.requested_release(dataset)
    charge = LedgerEntry.objects.get(kind=LedgerEntry.Kind.CHARGE)
    assert second_person.exceeds(Decimal("0.1"), dataset, "pure")
    values = {
        "kind": SPENDS,
        "subject": str(charge.key),
        "state": Approval.State.APPROVED,
        "by": dataset.owner,
    }
    times = {"at": timezone.now(), "expires_at": timezone.now(), "answered_by": administrator}
    with unguarded():
        models.QuerySet(Approval).bulk_create([Approval(**values, **times)])
    assert second_person.exceeds(Decimal("0.1"), dataset, "pure")


def test_a_charge_that_is_less_for_a_second_needs_a_second_person(dataset, settings):
    settings.TWO_PEOPLE = replace(settings.TWO_PEOPLE, acts=frozenset({SPENDS}), epsilon=Decimal("0.15"))
    charge = building.requested_release(dataset).charge
    with forged(charge, amount=Decimal("0.000001")):
        assert second_person.exceeds(Decimal("0.1"), dataset, "pure")
    assert not second_person.exceeds(Decimal("0.01"), dataset, "pure")


def test_a_grant_by_nobody_who_might_is_named(dataset, curator):
    assert not list(verification.foreign_grants())
    building.granted(dataset, curator)
    [text] = verification.foreign_grants()
    assert "no administrator" in text


def test_no_page_shows_rows_of_a_table_that_a_row_names_past_the_portal(client, dataset, other_curator):
    """To whoever is a curator, and has the database, too."""
    own = building.stored_dataset(other_curator)
    client.force_login(other_curator)
    address = f"/datasets/{own.pk}/rows/"
    assert client.get(address).status_code == 200
    with forged(own, table=dataset.table):
        assert client.get(address).status_code != 200


def test_what_was_published_past_the_portal_is_shown_to_nobody(client, ready):
    assert client.get(ready.get_absolute_url()).status_code == 404
    with forged(ready, published_at=timezone.now()):
        assert client.get(ready.get_absolute_url()).status_code == 404


def test_a_publication_that_a_row_gives_to_another_dataset_is_not_theirs(client, ready, other_curator):
    own = building.stored_dataset(other_curator)
    client.force_login(other_curator)
    with forged(ready, dataset_id=own.pk):
        assert client.get(ready.get_absolute_url()).status_code == 404
        assert client.post(f"{ready.get_absolute_url()}publish/").status_code == 404
    assert Release.objects.get(pk=ready.pk).published_at is None


@pytest.mark.parametrize("what", ["sketch", "fingerprint"])
def test_no_grant_is_given_while_a_known_table_is_hidden(dataset, other_curator, administrator, what):
    copy = building.stored_dataset(other_curator)
    building.granted(copy, administrator, knowing=True)
    if what == "sketch":
        TableSketch.objects.get_or_create(dataset=dataset, defaults={"content": "a sample"})
        with unguarded():
            models.QuerySet(TableSketch).filter(dataset=dataset)._raw_delete("default")
    else:
        with unguarded():
            models.QuerySet(Dataset).filter(pk=dataset.pk).update(fingerprint="x")
    with pytest.raises(BudgetRefusedError, match=WORDS):
        building.granted(copy, administrator, knowing=True)
