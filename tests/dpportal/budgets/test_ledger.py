"""What a ledger does: grants, reductions, reservations, and how a charge ends."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError

from dpportal.budgets import charge_journal, ledger
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget, LedgerEntry
from mechanisms.accounting import Definition
from tests.dpportal import building
from tests.dpportal.building import stored_dataset


def reserve(dataset, amount: str, key=None, definition=Definition.PURE) -> LedgerEntry:
    booking = ledger.Booking(key or uuid4(), "Test release")
    return ledger.reserve(dataset, Decimal(amount), booking, definition=definition, by=dataset.owner)


def grant(dataset, amount: str, definition: str = "pure") -> LedgerEntry:
    return ledger.grant(dataset, Decimal(amount), definition=definition, reason="More", by=dataset.owner)


def reduce(dataset, amount: str) -> LedgerEntry:
    return ledger.reduce(Budget.of(dataset), Decimal(amount), reason="Less", by=dataset.owner)


def parts(dataset) -> tuple[Decimal, Decimal, Decimal]:
    """(total, spent, reserved)"""
    budget = Budget.objects.get(dataset=dataset)
    return budget.total, budget.spent, budget.reserved


def amounts(*texts: str) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, texts))


def test_a_grant_is_a_booked_line_with_its_reason(dataset):
    entry = dataset.ledger.get()
    assert (entry.kind, entry.state, entry.amount, entry.reason) == (
        "grant",
        "booked",
        Decimal(1),
        "For the test",
    )


def test_grants_add_up(dataset):
    grant(dataset, "0.25")
    assert parts(dataset) == amounts("1.25", "0", "0")


def test_a_grant_of_the_other_kind_is_refused(dataset):
    with pytest.raises(BudgetRefusedError, match="counted in ε"):
        grant(dataset, "1", definition="zcdp")
    assert parts(dataset) == amounts("1", "0", "0")


def test_delta_can_be_mended_until_something_was_paid(curator):
    dataset = stored_dataset(curator)
    zcdp = {"definition": "zcdp", "reason": "More", "by": curator}
    ledger.grant(dataset, Decimal(1), terms=ledger.GrantTerms(6), **zcdp)
    ledger.grant(dataset, Decimal(1), terms=ledger.GrantTerms(7), **zcdp)
    assert Budget.of(dataset).delta_exponent == 7
    reserve(dataset, "0.1", definition=Definition.ZCDP)
    with pytest.raises(BudgetRefusedError, match="Leave n at 7"):
        ledger.grant(dataset, Decimal(1), terms=ledger.GrantTerms(6), **zcdp)
    assert Budget.of(dataset).total == 2


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "Infinity", "-Infinity", "sNaN"])
def test_an_amount_is_a_positive_number(dataset, amount):
    for change in (grant, reduce, reserve):
        with pytest.raises(BudgetRefusedError, match="above 0"):
            change(dataset, amount)


def test_an_amount_finer_than_a_millionth_is_refused_not_rounded(dataset):
    with pytest.raises(ValidationError):
        reserve(dataset, "0.0000001")
    assert parts(dataset) == amounts("1", "0", "0")


def test_a_reservation_is_set_aside(dataset):
    reserve(dataset, "0.6")
    assert parts(dataset) == amounts("1", "0", "0.6")
    assert building.left(dataset) == Decimal("0.4")


def test_a_charge_is_spent_once(dataset):
    entry = reserve(dataset, "0.6")
    ledger.spend(entry)
    ledger.spend(entry)
    assert parts(dataset) == amounts("1", "0.6", "0")


def test_a_reservation_is_voided_once(dataset):
    reserve(dataset, "0.3")
    entry = reserve(dataset, "0.6")
    ledger.void(entry)
    ledger.void(entry)
    assert parts(dataset) == amounts("1", "0", "0.3")


def test_a_void_after_the_spend_changes_nothing(dataset):
    entry = reserve(dataset, "0.6")
    ledger.spend(entry)
    ledger.void(entry)
    entry.refresh_from_db()
    assert (entry.state, building.left(dataset)) == ("spent", Decimal("0.4"))


def test_a_spend_after_the_void_is_refused_and_changes_nothing(dataset):
    entry = reserve(dataset, "0.6")
    ledger.void(entry)
    with pytest.raises(BudgetRefusedError, match="free again"):
        ledger.spend(entry)
    entry.refresh_from_db()
    assert (entry.state, parts(dataset)) == ("void", amounts("1", "0", "0"))


def test_settling_is_dated(dataset):
    entry = reserve(dataset, "0.6")
    assert entry.settled_at is None
    ledger.spend(entry)
    entry.refresh_from_db()
    assert entry.settled_at >= entry.at


def test_one_key_is_charged_once(dataset):
    key = uuid4()
    reserve(dataset, "0.1", key)
    with pytest.raises(BudgetRefusedError, match="Make a new draft"):
        reserve(dataset, "0.1", key)
    assert parts(dataset) == amounts("1", "0", "0.1")


@pytest.mark.slow
def test_ten_releases_of_a_tenth_exhaust_one_and_the_eleventh_is_refused_with_both_numbers(dataset):
    for _ in range(10):
        ledger.spend(reserve(dataset, "0.1"))
    with pytest.raises(BudgetRefusedError) as refusal:
        reserve(dataset, "0.1")
    assert parts(dataset) == amounts("1", "1", "0")
    assert str(refusal.value) == (
        "This costs ε = 0.10; Small table has ε = 0.00 left. Ask an administrator for more."
    )


def test_a_refusal_says_how_far_to_lower_the_cost(dataset):
    reserve(dataset, "0.75")
    with pytest.raises(
        BudgetRefusedError, match=r"costs ε = 0\.30; .* has ε = 0\.25 left\. Lower ε to at most 0\.25"
    ):
        reserve(dataset, "0.3")


def test_an_amount_of_the_other_kind_is_refused(dataset):
    with pytest.raises(BudgetRefusedError, match="counted in ε"):
        reserve(dataset, "0.25", definition=Definition.ZCDP)
    assert parts(dataset) == amounts("1", "0", "0")


def test_a_refused_reservation_leaves_no_line(dataset):
    with pytest.raises(BudgetRefusedError):
        reserve(dataset, "1.000001")
    assert dataset.ledger.count() == 1


def test_without_a_grant_nothing_can_be_reserved(curator):
    dataset = stored_dataset(curator)
    with pytest.raises(BudgetRefusedError, match="has no privacy budget yet"):
        reserve(dataset, "0.000001")
    assert building.left(dataset) == 0


def test_millionths_are_exact(dataset):
    for amount in ("0.333333", "0.333333", "0.333333", "0.000001"):
        reserve(dataset, amount)
    assert parts(dataset) == amounts("1", "0", "1")
    with pytest.raises(BudgetRefusedError):
        reserve(dataset, "0.000001")


def test_large_amounts_keep_their_millionths(dataset):
    grant(dataset, "999999999.999999")
    assert parts(dataset)[0] == Decimal("1000000000.999999")


def test_a_reduction_takes_back_what_is_free(dataset):
    ledger.spend(reserve(dataset, "0.3"))
    reserve(dataset, "0.2")
    reduce(dataset, "0.5")
    assert parts(dataset) == amounts("0.5", "0.3", "0.2")


def test_a_reduction_below_spent_and_reserved_is_refused(dataset):
    ledger.spend(reserve(dataset, "0.3"))
    reserve(dataset, "0.2")
    with pytest.raises(
        BudgetRefusedError, match=r"Only ε = 0\.50 of this budget is neither spent nor reserved"
    ):
        reduce(dataset, "0.500001")
    assert parts(dataset) == amounts("1", "0.3", "0.2")


def test_a_budget_that_was_never_granted_cannot_be_reduced(curator):
    with pytest.raises(BudgetRefusedError, match="no budget to reduce"):
        reduce(stored_dataset(curator), "0.1")


def test_datasets_have_budgets_of_their_own(dataset, other_curator, administrator):
    other = stored_dataset(other_curator, "Another table")
    ledger.grant(other, Decimal("0.5"), definition="pure", reason="Other", by=administrator)
    reserve(other, "0.5")
    assert building.left(dataset) == 1


def test_a_charge_that_is_spent_while_another_job_looks_is_not_missing(dataset, monkeypatch):
    """As if whoever looks, without holding the dataset, was stopped before it read the ledger."""
    entry, others = reserve(dataset, "0.25"), [True]
    lines = charge_journal._lines

    def after_another_spent(looked_at):
        if others:
            others.clear()
            ledger.spend(entry)
        return lines(looked_at)

    monkeypatch.setattr(charge_journal, "_lines", after_another_spent)
    charge_journal.require_complete(dataset)
    assert parts(dataset) == amounts("1", "0.25", "0")
