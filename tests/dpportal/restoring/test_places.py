"""Between two comparisons of all charges, the last places tell whether ledger and journal have the same."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection

from dpportal.budgets import charge_journal, charge_places, ledger
from dpportal.budgets.charge_journal import RestoredError
from dpportal.budgets.models import LedgerEntry
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from mechanisms.accounting import Definition
from tests.dpportal.history.test_chain import unguarded


def reserved(dataset) -> LedgerEntry:
    how = {"definition": Definition.PURE, "by": dataset.owner}
    return ledger.reserve(dataset, Decimal("0.01"), ledger.Booking(uuid4(), "One of many"), **how)


def spent(dataset, number: int) -> list[LedgerEntry]:
    charges = [reserved(dataset) for _ in range(number)]
    for charge in charges:
        ledger.spend(charge)
    return charges


@pytest.fixture
def compared(dataset, monkeypatch):
    """Five charges are spent, and all were compared just now; who compares all again fails."""
    spent(dataset, 5)
    charge_journal._compare_all([dataset])
    assert not charge_journal._unsure([dataset])
    return dataset


def put_back(dataset, number: int) -> None:
    """The ledger without its last lines, as an older copy of the database has it."""
    gone = list(dataset.ledger.order_by("-pk").values_list("pk", flat=True)[:number])
    with unguarded(), connection.cursor() as cursor:
        for pk in gone:
            cursor.execute("DELETE FROM budgets_ledgerentry WHERE id = %s", [pk])


def test_what_is_spent_next_lists_nothing(compared, monkeypatch):
    monkeypatch.setattr(charge_journal, "keys", lambda _: pytest.fail("the charges were listed"))
    spent(compared, 3)
    assert not charge_journal._unsure([compared])


@pytest.mark.parametrize("number", [1, 2, 5])
def test_an_older_copy_of_the_database_is_recognised(compared, number):
    put_back(compared, number)
    with pytest.raises(RestoredError, match=f"lacks {number} charges"):
        charge_journal.require_complete(compared)


def test_an_older_copy_is_recognised_whatever_was_begun_and_stopped_before(compared):
    """A worker was stopped between place and charge, and another one between charge and commit."""
    first, second = reserved(compared), reserved(compared)
    charge_places.take(compared.pk, first.key.hex)
    charge_journal.settle(second, {})
    assert not charge_journal._unsure([compared])
    spent(compared, 2)
    assert not charge_journal._unsure([compared])
    put_back(compared, 1)
    with pytest.raises(RestoredError, match="lacks 1 charges"):
        charge_journal.require_complete(compared)


def test_an_older_journal_is_recognised(compared, memory_of_its_own):
    [newest] = spent(compared, 1)
    (memory_of_its_own / f"charges/{compared.pk}/{newest.key.hex}").unlink()
    with pytest.raises(MemoryFaultError, match="lacks charges"):
        charge_journal.require_complete(compared)


def test_an_old_charge_that_was_deleted_is_missed_at_the_next_spend(compared, memory_of_its_own):
    """Also while another job has remembered its charge and not committed yet, once it has."""
    other, then = reserved(compared), reserved(compared)
    charge_journal.settle(other, {})
    oldest = compared.ledger.filter(state="spent").order_by("pk").first()
    (memory_of_its_own / f"charges/{compared.pk}/{oldest.key.hex}").unlink()
    with suppress(ledger.BudgetOnHoldError):
        ledger.spend(other)
    with pytest.raises(ledger.BudgetOnHoldError, match="lacks charges"):
        ledger.spend(then)


def test_a_charge_that_is_tried_again_keeps_its_place(compared):
    charge = reserved(compared)
    for _ in range(3):
        charge_places.take(compared.pk, charge.key.hex)
    assert journal.names(f"places/{compared.pk}") == list("123456")


def test_all_are_compared_again_after_a_while(compared, monkeypatch):
    monkeypatch.setattr(charge_journal, "COMPARED_EVERY_SECONDS", 0.0)
    assert charge_journal._unsure([compared])


def test_a_journal_of_before_there_were_places_is_taken_up(compared, memory_of_its_own):
    for name in journal.names(f"places/{compared.pk}"):
        (memory_of_its_own / f"places/{compared.pk}/{name}").unlink()
    assert charge_journal._unsure([compared])
    charge_journal.require_complete(compared)
    assert not charge_journal._unsure([compared])
    spent(compared, 1)
    put_back(compared, 1)
    with pytest.raises(RestoredError):
        charge_journal.require_complete(compared)


def test_a_void_charge_takes_no_place(compared):
    ledger.void(reserved(compared))
    assert journal.names(f"places/{compared.pk}") == list("12345")
    assert not charge_journal._unsure([compared])
