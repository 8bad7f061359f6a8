"""Budgets and the ledger in the admin: granting by a form, and nothing but granting and reducing."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.urls import reverse

from dpportal.budgets import ledger
from dpportal.budgets.forms import BudgetChangeForm
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from mechanisms.accounting import Definition
from tests.dpportal.building import stored_dataset

ADD = "admin:budgets_ledgerentry_add"


@pytest.fixture
def admin(client, administrator):
    client.force_login(administrator)
    return client


def chosen(dataset) -> str:
    """The value of the dataset's option on a page that is opened now."""
    return BudgetChangeForm().fields["dataset"].prepare_value(dataset)


def change(dataset, **fields) -> dict[str, str]:
    form = {
        "dataset": chosen(dataset),
        "kind": "grant",
        "definition": "pure",
        "delta_exponent": "6",
        "amount": "0.5",
        "reason": "Second wave of the survey",
    }
    return {**form, **fields}


def total(dataset) -> Decimal:
    return Budget.objects.get(dataset=dataset).total


def errors(response) -> dict[str, list[str]]:
    return response.context["adminform"].form.errors


def test_the_form_is_there(admin):
    assert "Second wave" not in admin.get(reverse(ADD)).text
    assert "Kept in the ledger for ever" in admin.get(reverse(ADD)).text


def test_a_grant_is_a_ledger_line_with_reason_and_name(admin, dataset, administrator):
    response = admin.post(reverse(ADD), change(dataset))
    assert response.status_code == 302
    entry = dataset.ledger.first()
    assert (entry.kind, entry.amount, entry.reason, entry.by) == (
        "grant",
        Decimal("0.5"),
        "Second wave of the survey",
        administrator,
    )
    assert total(dataset) == Decimal("1.5")


def test_a_grant_for_whom_the_page_named_is_refused_once_others_are_protected(admin, dataset):
    page = admin.get(reverse(ADD)).text
    assert f'value="{chosen(dataset)}"' in page and "each row, as one person" in page
    posted = change(dataset)
    services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    response = admin.post(reverse(ADD), posted)
    assert "has changed since you opened this page" in errors(response)["dataset"][0]
    assert total(dataset) == 1
    assert "replaced by another" in response.text
    admin.post(reverse(ADD), change(dataset))
    assert total(dataset) == Decimal("1.5")


def test_a_grant_names_no_account_since_it_has_one(admin, dataset):
    [account] = dataset.budgets.all()
    response = admin.post(reverse(ADD), change(dataset, budget=str(account.pk)))
    assert "Leave this empty for a grant" in errors(response)["budget"][0]
    assert total(dataset) == 1


def test_a_first_grant_of_zcdp_keeps_its_delta(admin, curator):
    dataset = stored_dataset(curator)
    admin.post(reverse(ADD), change(dataset, definition="zcdp", delta_exponent="9"))
    budget = Budget.objects.get(dataset=dataset)
    assert (budget.symbol, budget.delta_exponent) == ("ρ", 9)


def paying_zcdp(curator) -> Dataset:
    """With an account that is read at δ = 10⁻⁷ and has paid for something."""
    dataset = stored_dataset(curator)
    how = {"definition": "zcdp", "reason": "First", "by": curator}
    ledger.grant(dataset, Decimal(1), terms=ledger.GrantTerms(delta_exponent=7), **how)
    paid = ledger.Booking(uuid4(), "Paid")
    ledger.reserve(dataset, Decimal("0.1"), paid, definition=Definition.ZCDP, by=curator)
    return dataset


def test_a_further_grant_leaves_the_delta_at_which_releases_were_described(admin, curator):
    dataset = paying_zcdp(curator)
    response = admin.post(reverse(ADD), change(dataset, definition="zcdp", delta_exponent="5"))
    assert "says δ = 10⁻⁷" in errors(response)["delta_exponent"][0]
    assert Budget.objects.get(dataset=dataset).delta_exponent == 7


def test_the_form_begins_with_how_the_account_counts(admin, curator):
    dataset = paying_zcdp(curator)
    form = admin.get(reverse(ADD), {"dataset": dataset.pk}).context["adminform"].form
    assert (form.initial["definition"], form.initial["delta_exponent"]) == ("zcdp", 7)


def test_a_grant_of_the_other_kind_is_refused_beside_the_field(admin, dataset):
    response = admin.post(reverse(ADD), change(dataset, definition="zcdp"))
    assert errors(response)["definition"] == [
        "This budget is counted in ε. Grant more ε; the two kinds cannot be added."
    ]
    assert total(dataset) == 1


def test_a_reduction_is_a_ledger_line(admin, dataset):
    admin.post(reverse(ADD), change(dataset, kind="reduction", amount="0.4"))
    assert (dataset.ledger.first().kind, total(dataset)) == ("reduction", Decimal("0.6"))


def test_a_reduction_below_what_is_spent_and_reserved_is_refused_beside_the_field(admin, dataset):
    release = ledger.Booking(uuid4(), "A release")
    ledger.reserve(dataset, Decimal("0.7"), release, definition=Definition.PURE, by=dataset.owner)
    response = admin.post(reverse(ADD), change(dataset, kind="reduction", amount="0.4"))
    assert errors(response)["amount"] == [
        "Only ε = 0.30 of this budget is neither spent nor reserved. Reduce it by at most that."
    ]
    assert total(dataset) == 1


def test_a_reduction_without_a_budget_is_refused(admin, curator):
    response = admin.post(reverse(ADD), change(stored_dataset(curator), kind="reduction"))
    assert errors(response)["amount"] == ["This dataset has no budget to reduce. Grant one first."]


@pytest.mark.slow
@pytest.mark.parametrize(
    "amount", ["0", "-1", "NaN", "Infinity", "1e308", "0.1+0.2", "0.0000001", "1000.1", "", "ε", "1,5"]
)
def test_an_amount_that_is_none_is_refused(admin, dataset, amount):
    response = admin.post(reverse(ADD), change(dataset, amount=amount))
    assert "amount" in errors(response)
    assert total(dataset) == 1


def test_a_change_needs_a_reason(admin, dataset):
    assert "reason" in errors(admin.post(reverse(ADD), change(dataset, reason=" ")))


@pytest.mark.parametrize("kind", ["charge", "spent", ""])
def test_a_charge_cannot_be_written_by_hand(admin, dataset, kind):
    assert "kind" in errors(admin.post(reverse(ADD), change(dataset, kind=kind)))
    assert dataset.ledger.count() == 1


@pytest.mark.parametrize("model", ["ledgerentry", "budget"])
@pytest.mark.parametrize("view", ["change", "delete"])
def test_a_line_is_neither_changed_nor_deleted_in_the_admin(admin, dataset, model, view):
    target = dataset.ledger.get() if model == "ledgerentry" else dataset.budgets.get()
    address = reverse(f"admin:budgets_{model}_{view}", args=[target.pk])
    response = admin.post(address, {**change(dataset, amount="9"), "post": "yes"})
    assert response.status_code == 403
    assert (dataset.ledger.get().amount, total(dataset)) == (1, 1)


def test_lines_are_not_deleted_by_an_action(admin, dataset):
    form = {"action": "delete_selected", "_selected_action": [dataset.ledger.get().pk], "post": "yes"}
    admin.post(reverse("admin:budgets_ledgerentry_changelist"), form)
    assert LedgerEntry.objects.count() == 1


def test_a_budget_is_not_added_past_the_ledger(admin):
    assert admin.post(reverse("admin:budgets_budget_add"), {}).status_code == 403


def test_a_line_can_be_read_in_the_admin(admin, dataset):
    page = admin.get(reverse("admin:budgets_ledgerentry_change", args=[dataset.ledger.get().pk]))
    assert page.status_code == 200
    assert "For the test" in page.text


def test_the_lists_show_symbol_and_amount(admin, dataset):
    assert "ε 1.00" in admin.get(reverse("admin:budgets_ledgerentry_changelist")).text
    assert "ε 1.00" in admin.get(reverse("admin:budgets_budget_changelist")).text


@pytest.mark.parametrize("role", ["curator", "analyst"])
def test_nobody_else_grants(client, dataset, request, role):
    client.force_login(request.getfixturevalue(role))
    assert client.post(reverse(ADD), change(dataset)).status_code == 302
    assert total(dataset) == 1


@pytest.mark.parametrize("state", [Dataset.State.REFUSED, Dataset.State.DUPLICATE, Dataset.State.ERASED])
def test_a_dataset_without_records_gets_no_budget(admin, curator, administrator, state):
    dataset = Dataset.objects.create(owner=curator, name="Failed", file_name="failed.csv", state=state)
    response = admin.post(reverse(ADD), change(dataset))
    assert "No records of this dataset" in errors(response)["dataset"][0]
    with pytest.raises(ledger.BudgetRefusedError, match="No records of this dataset"):
        ledger.grant(dataset, Decimal(1), definition="pure", reason="Test", by=administrator)
    assert not Budget.objects.exists()


def test_a_grant_waits_until_the_table_has_been_read(admin, curator):
    """Only then can an administrator be told that it is one which has a budget."""
    dataset = Dataset.objects.create(owner=curator, name="Being read", file_name="table.csv")
    assert "is being read" in errors(admin.post(reverse(ADD), change(dataset)))["dataset"][0]
    assert not Budget.objects.exists()


@pytest.mark.parametrize("amount", ["1_0", "1e1", "1E-1", "１０", "٣", "0x1", "1,5", "1 0", "."])
def test_what_is_no_plain_number_is_no_amount(admin, dataset, amount):
    response = admin.post(reverse(ADD), change(dataset, amount=amount))
    assert errors(response)["amount"] == [
        "Write one plain number such as 0.25, without signs, sums or letters."
    ]
    assert total(dataset) == Decimal(1)


@pytest.mark.parametrize("amount", ["0.5", ".5", " 0.50 ", "00.5"])
def test_a_plain_number_may_be_written_with_its_zeros_or_without(admin, dataset, amount):
    admin.post(reverse(ADD), change(dataset, amount=amount))
    assert total(dataset) == Decimal("1.5")
