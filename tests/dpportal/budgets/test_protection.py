"""One account for each protection: losses for different people are never added."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from dpportal.budgets import ledger
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.budgets.promises import OtherPromises
from dpportal.datasets import services
from dpportal.datasets.protection import Protection
from mechanisms.accounting import Definition
from tests.dpportal import building

ROWS, PEOPLE = Protection("add-remove"), Protection("add-remove", "colour")


def protect(dataset, protection: Protection, max_rows: int = 1) -> None:
    services.declare_unit(
        dataset, neighbours=protection.neighbours, unit_column=protection.unit_column, max_rows=max_rows
    )


def reserve(dataset, amount: str) -> LedgerEntry:
    booking = ledger.Booking(uuid4(), "Test")
    return ledger.reserve(dataset, Decimal(amount), booking, definition=Definition.PURE, by=dataset.owner)


def accounts(dataset) -> dict[str, tuple[str, str]]:
    """Total and reserved of each account by whom it protects."""
    return {str(b.protection): (f"{b.total:f}", f"{b.reserved:f}") for b in dataset.budgets.all()}


def test_until_the_first_reservation_the_account_follows_the_domain(dataset):
    protect(dataset, PEOPLE)
    assert not dataset.budgets.get().is_fixed and dataset.budgets.get().protection == PEOPLE
    protect(dataset, ROWS)
    reserve(dataset, "0.25")
    protect(dataset, PEOPLE)
    assert dataset.budgets.get().is_fixed and dataset.budgets.get().protection == ROWS


@pytest.mark.parametrize("later", [PEOPLE, Protection("replace-one"), Protection("replace-one", "colour")])
def test_a_second_protection_is_not_paid_from_the_account_of_the_first(dataset, later):
    reserve(dataset, "0.25")
    protect(dataset, later)
    with pytest.raises(BudgetRefusedError, match=r"never added.*ask an administrator") as refusal:
        reserve(dataset, "0.25")
    assert str(ROWS) in str(refusal.value) and str(later) in str(refusal.value)
    assert building.left(dataset) == 0
    protect(dataset, ROWS)
    assert building.left(dataset) == Decimal("0.75")


def test_a_grant_for_whom_the_domain_now_protects_opens_an_account_beside_the_first(dataset, administrator):
    reserve(dataset, "0.25")
    protect(dataset, PEOPLE, max_rows=3)
    building.granted(dataset, administrator, total="2")
    reserve(dataset, "0.5")
    found = accounts(dataset)
    assert found == {str(ROWS): ("1.000000", "0.250000"), str(PEOPLE): ("2.000000", "0.500000")}


def test_a_first_line_says_whom_its_account_protects(dataset):
    account = reserve(dataset, "0.25").budget
    assert account.is_fixed and Protection.of(account) == ROWS and account.reserved == Decimal("0.25")


def test_capitals_of_no_column_open_no_second_account(dataset):
    reserve(dataset, "0.25")
    services.declare_unit(dataset, neighbours="add-remove", unit_column="", max_rows=1, ignore_case=True)
    assert Protection.of(dataset.current_domain()) == ROWS
    assert reserve(dataset, "0.25").budget == dataset.budgets.get()


def test_the_number_of_rows_of_a_person_may_change(dataset):
    protect(dataset, PEOPLE, max_rows=3)
    reserve(dataset, "0.25")
    protect(dataset, PEOPLE, max_rows=7)
    assert reserve(dataset, "0.25").budget == dataset.budgets.get()


def test_spending_and_voiding_change_the_account_that_was_charged(dataset, administrator):
    first, voided = reserve(dataset, "0.25"), reserve(dataset, "0.125")
    protect(dataset, PEOPLE)
    building.granted(dataset, administrator)
    ledger.spend(first)
    ledger.void(voided)
    rows, people = dataset.budgets.all()
    assert (rows.spent, rows.reserved, people.spent, people.reserved) == (Decimal("0.25"), 0, 0, 0)
    others = [bool(OtherPromises.of(account).accounts) for account in (rows, people)]
    assert others == [False, True]


@pytest.mark.slow
def test_a_draft_says_why_nothing_can_be_paid(client, ready, dataset):
    protect(dataset, PEOPLE)
    draft = building.complete_draft(dataset)
    client.force_login(dataset.owner)
    page = client.get(f"/releases/{draft.pk}/review/").content.decode()
    assert "costs for different people are never added" in page


@pytest.mark.slow
def test_the_release_keeps_the_account_that_paid_for_it(ready, dataset):
    protect(dataset, PEOPLE)
    assert ready.account == ready.charge.budget and ready.account.protection == ROWS


def test_the_administrator_sees_whom_a_grant_is_for(client, dataset, administrator):
    protect(dataset, PEOPLE)
    client.force_login(administrator)
    page = client.get(f"/office/budgets/{dataset.pk}/").content.decode()
    assert f"The budget is for {PEOPLE}" in " ".join(page.replace("&quot;", '"').split())
    assert str(PEOPLE) in client.get("/admin/budgets/budget/").content.decode()


def test_the_ledger_page_shows_one_account_for_each_protection(client, dataset, administrator):
    reserve(dataset, "0.25")
    protect(dataset, PEOPLE)
    building.granted(dataset, administrator)
    client.force_login(dataset.owner)
    page = client.get(f"/datasets/{dataset.pk}/ledger/").content.decode()
    assert f"for {ROWS}" in page and f"for {PEOPLE}" in page
    assert str(PEOPLE) in client.get(f"/datasets/{dataset.pk}/ledger.csv").content.decode()


@pytest.mark.slow
def test_the_page_of_who_is_protected_names_the_accounts_once_one_is_fixed(client, dataset):
    client.force_login(dataset.owner)
    address = f"/datasets/{dataset.pk}/domain/unit/"
    assert "are never added" not in client.get(address).content.decode()
    reserve(dataset, "0.25")
    page = client.get(address).content.decode()
    assert f"left for {ROWS}" in page and "use the budget of the people" in page
    protect(dataset, PEOPLE)
    assert "The people whom you protect now have no budget yet" in client.get(address).content.decode()
