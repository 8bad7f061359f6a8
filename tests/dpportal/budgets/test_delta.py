"""A δ is granted, reserved, spent and given back as ε and ρ are, and is never overspent."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F

from dpportal.budgets import charge_journal, ledger
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.ledger_lines import LINE
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.promises import AccountPromise
from dpportal.budgets.writing import writing
from dpportal.operations.verification import broken_chain, wrong_budgets
from mechanisms.accounting import Definition
from tests.dpportal.building import stored_dataset

EPSILON, DELTA = Decimal("0.1"), Decimal("0.000001")


def reserve(dataset, delta: str, amount: Decimal = EPSILON) -> LedgerEntry:
    booking = ledger.Booking(uuid4(), "Values of town", delta=Decimal(delta))
    return ledger.reserve(dataset, amount, booking, definition=Definition.PURE, by=dataset.owner)


def deltas(dataset) -> tuple[Decimal, Decimal, Decimal]:
    """(granted, spent, reserved)"""
    budget = Budget.objects.get(dataset=dataset)
    return budget.delta_total, budget.delta_spent, budget.delta_reserved


@pytest.fixture
def funded(dataset):
    """ε = 2 in all, and δ = 10⁻⁶."""
    terms = ledger.GrantTerms(delta=DELTA)
    ledger.grant(dataset, Decimal(1), definition="pure", reason="A list", by=dataset.owner, terms=terms)
    return dataset


def test_a_pure_budget_has_no_delta_and_says_whom_to_ask(dataset):
    with pytest.raises(BudgetRefusedError, match=r"has no δ: .* Ask an administrator to grant δ = 10⁻⁷"):
        reserve(dataset, "0.0000001")
    assert dataset.ledger.count() == 1 and deltas(dataset) == (0, 0, 0)


def test_delta_is_reserved_spent_and_given_back(funded):
    spent, given_back = reserve(funded, "0.0000004"), reserve(funded, "0.0000006")
    assert deltas(funded) == (DELTA, 0, DELTA)
    ledger.spend(spent)
    ledger.void(given_back)
    ledger.spend(spent)
    assert deltas(funded) == (DELTA, Decimal("0.0000004"), 0)
    assert not [*wrong_budgets(), *broken_chain()]


def test_delta_is_not_overspent_by_its_smallest_part(funded):
    reserve(funded, "0.000000999999999")
    with pytest.raises(BudgetRefusedError, match=r"needs δ = 2 × 10⁻¹⁵; Small table has δ = 10⁻¹⁵ left"):
        reserve(funded, "0.000000000000002")
    reserve(funded, "0.000000000000001")
    assert Budget.of(funded).delta_left == 0


def test_finer_delta_is_refused_not_rounded(funded):
    with pytest.raises(ValidationError, match="15 digits"):
        reserve(funded, "0.0000000000000001")


@pytest.mark.parametrize("delta", ["-0.000001", "NaN", "Infinity"])
def test_a_delta_is_no_such_number(funded, delta):
    with pytest.raises(BudgetRefusedError, match="at least 0"):
        reserve(funded, delta)


def test_what_is_left_of_delta_can_be_taken_back(funded):
    reserve(funded, "0.0000004")
    budget, how = Budget.of(funded), {"reason": "Less", "by": funded.owner}
    with pytest.raises(BudgetRefusedError, match=r"δ 6 × 10⁻⁷ of this budget"):
        ledger.reduce(budget, EPSILON, delta=Decimal("0.0000007"), **how)
    ledger.reduce(budget, EPSILON, delta=Decimal("0.0000006"), **how)
    assert deltas(funded) == (Decimal("0.0000004"), 0, Decimal("0.0000004"))


def test_the_database_refuses_delta_that_no_line_accounts_for(funded):
    for changes in ({"delta_total": F("delta_total") + DELTA}, {"delta_spent": DELTA}):
        with pytest.raises(IntegrityError, match="lines of its ledger"), transaction.atomic(), writing():
            Budget.objects.filter(dataset=funded).update(**changes)


def test_a_charge_that_the_ledger_lost_is_entered_with_its_delta(funded, administrator):
    """The journal has what a restored ledger lacks: here another one, of the same people."""
    charge = ledger.spend(reserve(funded, "0.0000004")) or funded.ledger.get(state="spent")
    remembered = charge_journal.charge_of(charge)
    assert remembered is not None and remembered.cost_delta == Decimal("0.0000004")
    other = stored_dataset(funded.owner, "Restored")
    ledger._enter(other, remembered_as(remembered), administrator)
    assert deltas(other) == (remembered.cost_delta, remembered.cost_delta, 0)


def remembered_as(charge: charge_journal.Charge) -> charge_journal.Charge:
    """The same of another line: a key names one."""
    return charge_journal.Charge(**{**vars(charge), "key": uuid4().hex})


def test_what_was_spent_is_said_with_its_delta(funded):
    ledger.spend(reserve(funded, "0.0000004"))
    [said] = [AccountPromise.spent_of(budget) for budget in funded.budgets.all()]
    assert str(said.loss) == "ε = 0.10, δ = 4 × 10⁻⁷"
    assert said.facts()["delta"] == "0.0000004"


def test_lines_without_delta_are_in_the_chain_as_they_were(funded):
    first, second = LINE.rows().order_by("pk")
    assert "delta" not in LINE.content_of(first) and LINE.content_of(second)["delta"] == "0.000001"
