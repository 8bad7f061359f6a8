"""What an administrator sees of a restored database, and does about it, on the page Health."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from decimal import Decimal
from uuid import uuid4

import pytest
from django.core.cache import cache

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import charge_journal, charge_places, ledger
from dpportal.budgets.forms import protection_digest
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.operations import restore_check
from dpportal.platform import journal
from dpportal.releases import execution
from dpportal.releases.models import ReleaseJob
from dpportal.value_choices import execution as choosing
from mechanisms.accounting import Definition
from tests.dpportal import building

pytestmark = pytest.mark.django_db
PAGE = "/health/portal/"


@pytest.fixture(autouse=True)
def _looked_for_anew():
    """What load balancers are told is looked for once a minute."""
    cache.clear()


@pytest.fixture
def spent(dataset):
    how = {"definition": Definition.PURE, "by": dataset.owner}
    entry = ledger.reserve(dataset, Decimal("0.3"), ledger.Booking(uuid4(), "Colours"), **how)
    ledger.spend(entry)
    return entry


@pytest.fixture
def lacking(dataset, spent):
    """A charge that only the memory knows: the database is as it was before it was reserved."""
    return remember_another(spent, amount="0.9", reason="Ages")


def remember_another(entry, dataset_id=None, **other) -> str:
    """As a transaction does whose database is then put back; returns the key."""
    key = uuid4().hex
    charge = replace(charge_journal.charge_of(entry), key=key, **other)
    charge_places.take(dataset_id or entry.dataset_id, key)
    assert journal.create(f"charges/{dataset_id or entry.dataset_id}/{key}", asdict(charge))
    return key


@pytest.fixture
def office(client, administrator):
    client.force_login(administrator)
    return client


def test_all_is_well_where_both_have_the_same(office, spent):
    assert "lacks" not in office.get(PAGE).content.decode()
    assert "restored" not in office.get("/health/").json()["troubles"]


def test_missing_charges_are_listed_and_entered(office, dataset, lacking):
    page = office.get(PAGE).content.decode()
    assert "Charges that the database lacks" in page and "Ages" in page and "ε 0.90" in page
    assert "Colours" not in page
    assert "restored" in office.get("/health/").json()["troubles"]
    answer = office.post(f"{PAGE}restored/{dataset.pk}/", follow=True).content.decode()
    assert "1 charges are entered" in answer and "Ages" not in answer
    line = LedgerEntry.objects.get(key=lacking)
    assert (line.state, line.amount) == ("spent", Decimal("0.9")) and "entered after a restore" in line.reason
    # 0.7 was left: the grant that it was paid from is missing, too.
    budget = dataset.budgets.get()
    assert (budget.total, budget.spent, budget.left) == (Decimal("1.2"), Decimal("1.2"), 0)
    assert AuditEntry.objects.filter(action="entered missing charges").count() == 1
    office.post(f"{PAGE}restored/{dataset.pk}/")
    assert LedgerEntry.objects.filter(kind="charge").count() == 2


def test_while_a_charge_is_missing_nothing_is_granted_reserved_or_spent(office, dataset, spent, lacking):
    how = {"definition": Definition.PURE, "by": dataset.owner}
    with pytest.raises(BudgetRefusedError, match="page Health"):
        ledger.reserve(dataset, Decimal("0.1"), ledger.Booking(uuid4(), "Next"), **how)
    with pytest.raises(BudgetRefusedError, match="page Health"):
        ledger.grant(dataset, Decimal(1), definition="pure", reason="More", by=dataset.owner)
    posted = {"protects": protection_digest(dataset), "amount": "1", "reason": "More"}
    answer = office.post(f"/office/budgets/{dataset.pk}/", posted)
    assert answer.status_code == 422 and "page Health" in answer.content.decode()


def test_a_dataset_that_is_missing_itself_is_noted(office, dataset, spent):
    gone = uuid4()
    remember_another(spent, gone, dataset="Census 2027")
    page = office.get(PAGE).content.decode()
    assert "Census 2027" in page and "I have noted this" in page
    office.post(f"{PAGE}restored/{gone}/")
    assert "Census 2027" not in office.get(PAGE).content.decode()


def test_a_lost_memory_is_told_with_what_to_do(office, spent, settings):
    shutil.rmtree(settings.MEMORY_DIR)
    page = office.get(PAGE).content.decode()
    assert "memory is lost" in page and "check_restored --accept" in page
    cache.clear()
    assert "memory" in office.get("/health/").json()["troubles"]


def test_nobody_else_enters_charges(client, curator, dataset, lacking):
    address = f"{PAGE}restored/{dataset.pk}/"
    assert client.post(address).status_code == 302
    client.force_login(curator)
    assert client.post(address).status_code == 404
    assert not LedgerEntry.objects.filter(key=lacking).exists()
    assert client.get(address).status_code in (404, 405)


def test_a_charge_of_another_protection_opens_its_account(office, dataset, spent):
    key = remember_another(spent, unit_column="colour", definition="zcdp", amount="0.05")
    office.post(f"{PAGE}restored/{dataset.pk}/")
    account = LedgerEntry.objects.get(key=key).budget
    assert (account.unit_column, account.definition, account.spent) == ("colour", "zcdp", Decimal("0.05"))


def test_a_memory_that_an_administrator_let_begin_anew_knows_where_measurements_lie(ready, memory_of_its_own):
    """Or a copy of before would have none of them, though their files are there."""
    shutil.rmtree(memory_of_its_own)
    restore_check.accept()
    charge = charge_journal.charge_of(ready.charge)
    assert execution.CommittedMeasurement.again(charge.outcome).measurement == ready.measurement


@pytest.mark.slow
def test_a_memory_that_an_administrator_let_begin_anew_knows_which_values_were_chosen(
    dataset, memory_of_its_own
):
    choice = building.requested_values(dataset)
    choosing.CHOICES.run(choice.pk)
    before = charge_journal.charge_of(choice.charge)
    shutil.rmtree(memory_of_its_own)
    restore_check.accept()
    assert charge_journal.charge_of(choice.charge).outcome == before.outcome
    choice.refresh_from_db()
    assert choice.kept and json.loads(before.outcome["values"]) == choice.kept


def test_a_charge_of_which_nothing_else_is_remembered_ends_its_job_with_a_reason(requested):
    """And the sweep does not break over it each time."""
    charge_journal.settle(requested.charge, {})
    assert execution.RELEASES.run(requested.pk)
    job = ReleaseJob.objects.get()
    requested.charge.refresh_from_db()
    assert (job.state, job.failure, requested.charge.state) == ("failed", execution.LOST, "spent")
