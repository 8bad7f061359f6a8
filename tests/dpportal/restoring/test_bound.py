"""What missing charges were bound to comes back with them: pages say what was spent, and totals stay private."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import charge_journal as charges, ledger
from dpportal.budgets.charge_journal import Charge
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.operations import restore_check
from dpportal.platform import journal
from dpportal.releases import services as releases
from dpportal.releases.models import ChangedPromise
from mechanisms.accounting import Definition
from tests.dpportal import building

pytestmark = pytest.mark.django_db
SPENT = "Releases and private choices of other datasets of nearly the same people protect each row"


@pytest.fixture
def copy(dataset) -> Dataset:
    """A near copy of the dataset, whose own promise lets its number of rows be public."""
    near = building.stored_dataset(dataset.owner, "Near copy")
    services.declare_unit(near, neighbours="replace-one", unit_column="", max_rows=1)
    return near


@pytest.fixture
def charge(dataset, copy) -> Charge:
    """Of ε = 0.3 from the dataset while the copy was bound to it."""
    dataset.same_people.add(copy)
    how = {"definition": Definition.PURE, "by": dataset.owner}
    entry = ledger.reserve(dataset, Decimal("0.3"), ledger.Booking(uuid4(), "Colours"), **how)
    made = Charge.of(entry, {})
    ledger.void(entry)
    dataset.same_people.remove(copy)
    return made


def remember(charge: Charge, dataset_id: UUID, **lacks: None) -> None:
    """As a transaction does whose database is then put back."""
    key = uuid4().hex
    content = {**asdict(charge), "key": key, "by": charge.by}
    kept = {name: value for name, value in content.items() if name not in lacks}
    assert journal.create(f"charges/{dataset_id}/{key}", kept)


BEFORE = {"total_public": None, "bound": None}


def reserve(dataset: Dataset) -> LedgerEntry:
    booking = ledger.Booking(uuid4(), "More")
    return ledger.reserve(dataset, Decimal("0.1"), booking, definition=Definition.PURE, by=dataset.owner)


def test_entering_binds_again(administrator, dataset, copy, charge):
    remember(charge, dataset.pk)
    assert not copy.total_stays_private
    ChangedPromise.objects.all().delete()
    assert restore_check.enter_missing(dataset.pk, administrator) == 1
    assert copy.total_stays_private and dataset in copy.bound_together
    assert ChangedPromise.objects.filter(dataset=dataset).exists()  # files are compared
    assert AuditEntry.objects.get(action="bound after a restore").detail == f"dataset {copy.pk}"


def test_what_is_bound_waits_until_the_charge_is_entered(administrator, dataset, copy, charge):
    building.granted(copy, administrator)
    remember(charge, dataset.pk)
    restore_check.check()
    with pytest.raises(BudgetRefusedError, match="page Health"):
        reserve(copy)
    restore_check.enter_missing(dataset.pk, administrator)
    assert reserve(copy)


def test_a_missing_dataset_goes_on_to_bind_the_others(administrator, dataset, copy, charge):
    building.granted(copy, administrator)
    gone = uuid4()
    remember(charge, gone)
    with pytest.raises(BudgetRefusedError, match="page Health"):
        reserve(copy)
    assert restore_check.enter_missing(gone, administrator) == 1
    assert restore_check.findings().lacking == [] and reserve(copy)
    assert copy.total_stays_private and not dataset.same_people.exists()
    [place] = copy.same_people.all()
    assert (place.pk, place.is_erased, place.owner) == (gone, True, copy.owner)
    assert place.budgets.get().spent == Decimal("0.3")


@pytest.mark.slow
def test_public_pages_say_what_a_missing_dataset_has_spent(administrator, ready, charge):
    gone, reader, owner = uuid4(), Client(), Client()
    releases.publish(ready, ready.dataset.owner)
    page = ready.get_absolute_url()
    assert SPENT not in " ".join(reader.get(page).text.split())
    remember(Charge(**{**asdict(charge), "bound": [str(ready.dataset_id)]}), gone)
    restore_check.enter_missing(gone, administrator)
    text = " ".join(reader.get(page).text.split())
    assert SPENT in text and "have spent ε = 0.30 in all" in text
    owner.force_login(ready.dataset.owner)
    assert owner.get(reverse("datasets:home", args=[gone])).status_code == 200


def test_a_missing_dataset_that_a_missing_charge_names_comes_back_with_it(
    administrator, dataset, copy, charge
):
    gone = uuid4()
    remember(Charge(**{**asdict(charge), "bound": []}), gone)
    remember(Charge(**{**asdict(charge), "bound": [str(gone)]}), copy.pk)
    restore_check.enter_missing(copy.pk, administrator)
    assert [each.pk for each in copy.same_people.all()] == [gone]
    assert copy.bound_together[1].budgets.get().spent == Decimal("0.3")


def test_a_file_of_before_binds_every_similar_dataset_with_a_budget(administrator, dataset, copy, charge):
    other = building.stored_dataset(dataset.owner, "Unlike")
    for each in (copy, other):
        building.granted(each, administrator)
    Dataset.objects.filter(pk__in=[dataset.pk, copy.pk]).update(relations=["one table"])
    remember(charge, dataset.pk, **BEFORE)
    assert charges.missing(dataset)[0].bound is None
    restore_check.enter_missing(dataset.pk, administrator)
    assert copy.total_stays_private and not other.total_stays_private


def test_a_file_of_before_of_a_missing_dataset_binds_all_that_its_person_has(
    administrator, dataset, copy, other_curator, charge
):
    others = building.stored_dataset(other_curator, "Somebody else's")
    services.declare_unit(others, neighbours="replace-one", unit_column="", max_rows=1)
    gone = uuid4()
    remember(charge, gone, **BEFORE)
    with pytest.raises(BudgetRefusedError, match="page Health"):
        reserve(dataset)
    restore_check.enter_missing(gone, administrator)
    assert copy.total_stays_private and not others.total_stays_private
    assert reserve(dataset)


def test_whether_the_total_was_published_comes_back(administrator, dataset, charge):
    remember(Charge(**{**asdict(charge), "total_public": True, "neighbours": "replace-one"}), dataset.pk)
    remember(Charge(**{**asdict(charge), "total_public": False, "neighbours": "replace-one"}), dataset.pk)
    restore_check.enter_missing(dataset.pk, administrator)
    entered = LedgerEntry.objects.filter(kind="charge", state="spent")
    assert sorted(entered.values_list("total_public", flat=True)) == [False, True]
