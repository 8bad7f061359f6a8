"""Grants and reductions on the administrators' page, which writes through the ledger; the admin is to read."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.urls import reverse
from django.utils.html import escape

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import ledger, requests
from dpportal.budgets.forms import protection_digest
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.publications import cost
from dpportal.releases import prices
from mechanisms.accounting import Definition
from tests.dpportal import building
from tests.dpportal.building import stored_dataset


@pytest.fixture
def admin(client, administrator):
    client.force_login(administrator)
    return client


def place(dataset) -> str:
    return reverse("grant", args=[dataset.pk])


def change(dataset, **fields) -> dict[str, str]:
    """What the page sends that is opened now."""
    form = {"protects": protection_digest(dataset), "amount": "0.5", "reason": "Second wave of the survey"}
    return {**form, **fields}


def reduced(admin, dataset, amount: str):
    budget = dataset.budgets.first()
    sent = {"budget": budget.pk if budget else "1", "amount": amount, "reason": "Too much"}
    return admin.post(reverse("reduction", args=[dataset.pk]), sent)


def total(dataset) -> Decimal:
    return Budget.objects.get(dataset=dataset).total


def errors(response) -> dict[str, list[str]]:
    assert response.status_code == 422
    return response.context["form"].errors


def test_a_grant_is_a_ledger_line_with_reason_and_name(admin, dataset, administrator):
    response = admin.post(place(dataset), change(dataset))
    assert response.status_code == 302
    entry = dataset.ledger.first()
    assert (entry.kind, entry.amount, entry.reason, entry.by) == (
        "grant",
        Decimal("0.5"),
        "Second wave of the survey",
        administrator,
    )
    assert total(dataset) == Decimal("1.5")


def test_a_grant_is_recorded(admin, dataset, administrator):
    admin.post(place(dataset), change(dataset))
    entry = AuditEntry.objects.get(action="granted a budget", detail="ε = 0.50")
    assert (entry.by, entry.subject) == (administrator, f"dataset {dataset.pk}")


def test_a_grant_leads_back_to_the_list(admin, dataset):
    answer = admin.post(place(dataset), change(dataset), follow=True)
    assert answer.redirect_chain == [(reverse("office"), 302)]
    assert (
        f"Granted ε 0.50 for “{dataset.name}”. A 10 % suspicion" in answer.text
        and "becomes at most 34 %" in answer.text
    )  # of ε 1.5


def test_a_grant_for_whom_the_page_named_is_refused_once_others_are_protected(admin, dataset):
    assert "each row, as one person, added or removed" in admin.get(place(dataset)).text
    posted = change(dataset)
    services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    response = admin.post(place(dataset), posted)
    assert "has changed since you opened this page" in errors(response)["__all__"][0]
    assert total(dataset) == 1
    assert "replaced by another" in response.text
    admin.post(place(dataset), change(dataset))
    assert total(dataset) == Decimal("1.5")


def test_a_first_grant_of_zcdp_keeps_its_delta(admin, curator):
    dataset = stored_dataset(curator)
    admin.post(place(dataset), change(dataset, definition="zcdp", delta_exponent="9"))
    budget = Budget.objects.get(dataset=dataset)
    assert (budget.symbol, budget.delta_exponent) == ("ρ", 9)


def test_a_grant_that_was_taken_back_whole_leaves_the_pages_of_others_as_they_are(admin, curator):
    dataset = stored_dataset(curator)
    admin.post(place(dataset), change(dataset, definition="zcdp", delta_exponent="9"))
    budget = Budget.objects.get(dataset=dataset)
    ledger.reduce(budget, budget.total, reason="By mistake", by=curator)
    services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    assert admin.get(place(dataset)).status_code == 200


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
    response = admin.post(place(dataset), change(dataset, definition="zcdp", delta_exponent="5"))
    assert "says δ = 10⁻⁷" in errors(response)["delta_exponent"][0]
    assert Budget.objects.get(dataset=dataset).delta_exponent == 7


def test_a_further_grant_counts_as_the_account_does_without_being_asked(admin, curator):
    dataset = paying_zcdp(curator)
    assert 'name="definition"' not in admin.get(place(dataset)).text
    admin.post(place(dataset), change(dataset, amount="0.1"))
    budget = Budget.objects.get(dataset=dataset)
    assert (budget.total, budget.definition, budget.delta_exponent) == (Decimal("1.1"), "zcdp", 7)


def test_a_grant_of_the_other_kind_is_refused_beside_the_field(admin, dataset):
    response = admin.post(place(dataset), change(dataset, definition="zcdp"))
    assert errors(response)["definition"] == [
        "This budget is counted in ε. Grant more ε; the two kinds cannot be added."
    ]
    assert total(dataset) == 1


def test_a_reduction_is_a_ledger_line(admin, dataset):
    assert reduced(admin, dataset, "0.4").status_code == 302
    assert (dataset.ledger.first().kind, total(dataset)) == ("reduction", Decimal("0.6"))
    assert AuditEntry.objects.filter(action="reduced a budget", detail="ε = 0.40").count() == 1


def test_a_reduction_below_what_is_spent_and_reserved_is_refused_beside_the_field(admin, dataset):
    release = ledger.Booking(uuid4(), "A release")
    ledger.reserve(dataset, Decimal("0.7"), release, definition=Definition.PURE, by=dataset.owner)
    response = reduced(admin, dataset, "0.4")
    assert response.context["taking"].errors["amount"] == [
        "Only ε = 0.30 of this budget is neither spent nor reserved. Reduce it by at most that."
    ]
    assert total(dataset) == 1


def test_a_reduction_without_a_budget_is_refused(admin, curator, dataset):
    bare = stored_dataset(curator)
    assert "Take back a part" not in admin.get(place(bare)).text
    assert reduced(admin, bare, "0.4").status_code == 422
    assert "Take back a part" in admin.get(place(dataset)).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "amount", ["0", "-1", "NaN", "Infinity", "1e308", "0.1+0.2", "0.0000001", "1000.1", "", "ε", "1,5,0"]
)
def test_an_amount_that_is_none_is_refused(admin, dataset, amount):
    response = admin.post(place(dataset), change(dataset, amount=amount))
    assert "amount" in errors(response)
    assert total(dataset) == 1


def test_a_change_needs_a_reason(admin, dataset):
    assert "reason" in errors(admin.post(place(dataset), change(dataset, reason=" ")))


@pytest.mark.parametrize("model", ["ledgerentry", "budget"])
@pytest.mark.parametrize("view", ["change", "delete"])
def test_a_line_is_neither_changed_nor_deleted_in_the_admin(admin, dataset, model, view):
    target = dataset.ledger.get() if model == "ledgerentry" else dataset.budgets.get()
    address = reverse(f"admin:budgets_{model}_{view}", args=[target.pk])
    response = admin.post(address, {"amount": "9", "post": "yes"})
    assert response.status_code == 403
    assert (dataset.ledger.get().amount, total(dataset)) == (1, 1)


def test_lines_are_not_deleted_by_an_action(admin, dataset):
    form = {"action": "delete_selected", "_selected_action": [dataset.ledger.get().pk], "post": "yes"}
    admin.post(reverse("admin:budgets_ledgerentry_changelist"), form)
    assert LedgerEntry.objects.count() == 1


@pytest.mark.parametrize("model", ["ledgerentry", "budget"])
def test_nothing_is_added_in_the_admin(admin, model):
    assert admin.post(reverse(f"admin:budgets_{model}_add"), {}).status_code == 403


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
    assert client.get(place(dataset)).status_code == 404
    assert client.post(place(dataset), change(dataset)).status_code == 404
    assert reduced(client, dataset, "0.1").status_code == 404
    assert total(dataset) == 1


@pytest.mark.parametrize("state", [Dataset.State.REFUSED, Dataset.State.DUPLICATE, Dataset.State.ERASED])
def test_a_dataset_without_records_gets_no_budget(admin, curator, administrator, state):
    dataset = Dataset.objects.create(owner=curator, name="Failed", file_name="failed.csv", state=state)
    response = admin.post(place(dataset), change(dataset))
    assert "No records of this dataset" in errors(response)["__all__"][0]
    with pytest.raises(ledger.BudgetRefusedError, match="No records of this dataset"):
        ledger.grant(dataset, Decimal(1), definition="pure", reason="Test", by=administrator)
    assert not Budget.objects.exists()


def test_a_grant_waits_until_the_table_has_been_read(admin, curator):
    """Only then can an administrator be told that it is one which has a budget."""
    dataset = Dataset.objects.create(owner=curator, name="Being read", file_name="table.csv")
    assert "is being read" in errors(admin.post(place(dataset), change(dataset)))["__all__"][0]
    assert not Budget.objects.exists()


@pytest.mark.parametrize("amount", ["1_0", "1e1", "1E-1", "１０", "٣", "0x1", "1,5,0", "1 0", "."])
def test_what_is_no_plain_number_is_no_amount(admin, dataset, amount):
    response = admin.post(place(dataset), change(dataset, amount=amount))
    assert errors(response)["amount"] == [
        "Write one plain number such as 0.25, without signs, sums or letters."
    ]
    assert total(dataset) == Decimal(1)


@pytest.mark.parametrize("amount", ["0.5", ".5", " 0.50 ", "00.5"])
def test_a_plain_number_may_be_written_with_its_zeros_or_without(admin, dataset, amount):
    admin.post(place(dataset), change(dataset, amount=amount))
    assert total(dataset) == Decimal("1.5")


def test_the_page_says_what_it_is_for_and_what_was_spent_never_a_sum_over_different_people(admin, dataset):
    building.complete_draft(dataset)
    building.requested_release(dataset, "0.3")
    services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    building.granted(dataset, dataset.owner, "2")
    page = admin.get(place(dataset)).text
    assert (
        "added or removed" in page and "ε 1.00" in page and "replaced by another" in page and "ε 2.00" in page
    )
    assert "ε 3.00</td>" not in page and "never added" in page
    listed = admin.get(reverse("admin:budgets_ledgerentry_changelist")).text
    assert "All pure budgets" not in listed and "granted," not in listed


def test_drafts_stand_with_cost_and_margin(admin, dataset):
    draft = building.complete_draft(dataset)
    row = (
        admin.get(place(dataset)).text.split(draft.title or escape(draft.proposed_title))[1].split("</tr>")[0]
    )
    assert f"ε {draft.amount}" in row and "±" in row and "people" in row


@pytest.mark.django_db(transaction=True)
def test_drafts_are_planned_while_nobody_waits_for_the_page(admin, dataset, monkeypatch):
    """Neither on a look nor after a grant that was refused; and the newest alone."""
    waiting = []

    def planned(draft):
        waiting.append(connection.in_atomic_block)
        return PricedDraft(draft.title, None, "pure", "", "")

    monkeypatch.setattr(prices, "of_draft", planned)
    for _each in range(12):
        building.complete_draft(dataset)
    shown = [admin.get(place(dataset)), admin.post(place(dataset), change(dataset, amount="-1"))]
    assert all("There are 2 more." in page.text for page in shown)
    assert waiting == [False] * 20


@pytest.mark.parametrize(("amount", "kind", "asked"), [("1", "info", 0), ("2", "warn", 0), ("9", "bad", 1)])
def test_much_is_warned_of_and_very_much_confirmed_twice(admin, dataset, amount, kind, asked):
    """With the ε 1 that was granted before: what counts is all that these people have."""
    shown = admin.get(reverse("grant_meaning", args=[dataset.pk]), {"amount": amount}).text
    assert f"notice {kind}" in shown.replace("\n", "") and shown.count('name="certain"') == asked
    answer = admin.post(place(dataset), change(dataset, amount=amount))
    assert answer.status_code == (422 if asked else 302)
    if asked:
        assert "confirm a second time" in errors(answer)["certain"][0]
        assert admin.post(place(dataset), change(dataset, amount=amount, certain="on")).status_code == 302


def test_copies_of_one_table_count_together(admin, curator):
    """Three times ε 5 for the same people is ε 15, whatever dataset it is granted for."""
    copies = [stored_dataset(curator, name) for name in ("One", "Two", "Three")]
    Dataset.objects.update(relations=["one table elsewhere"])
    assert "These people have no budget under this promise yet." in admin.get(place(copies[0])).text
    for before, copy in enumerate(copies):
        known = [str(other.pk) for other in copies[:before]]
        answer = admin.post(place(copy), change(copy, amount="5", knowing=known))
        assert answer.status_code == (302 if copy is copies[0] else 422)
        if copy is not copies[0]:
            page = " ".join(admin.get(place(copy)).text.split())
            assert f"Other datasets of the same people have ε {5 * before}.00." in page
            assert list(errors(answer)) == ["certain"]
            assert (
                admin.post(place(copy), change(copy, amount="5", knowing=known, certain="on")).status_code
                == 302
            )
    shown = admin.get(reverse("grant_meaning", args=[copies[0].pk]), {"amount": "1"}).text
    assert (
        "ε 16.00 in all" in shown and "counts ε 10.00 granted for the same people in other datasets" in shown
    )
    assert "ε 16.00 in all" in admin.get(place(copies[0])).text
    services.declare_unit(copies[1], neighbours="replace-one", unit_column="", max_rows=1)
    odds = admin.get(reverse("grant_meaning", args=[copies[1].pk]), {"amount": "1"}).context["odds"]
    assert odds.of_others == 0  # what protects others is never added


def test_a_worked_choice_is_granted_and_a_typed_amount_counts_before_it(admin, curator):
    dataset = stored_dataset(curator)
    assert admin.get(place(dataset)).text.count('name="choice"') == 4  # three worked ones, and another
    admin.post(place(dataset), change(dataset, choice="0.10", amount=""))
    admin.post(place(dataset), change(dataset, choice="1.00", amount="0.25"))
    assert total(dataset) == Decimal("0.35")
    assert "amount" in errors(admin.post(place(dataset), change(dataset, amount="")))


def test_what_is_asked_for_is_chosen_already_and_what_it_means_stands_there(admin, dataset, curator):
    draft = building.complete_draft(dataset, "0.29")
    requests.ask(dataset, "For the yearbook", curator, prices.of_draft(draft))
    shown = admin.get(place(dataset))
    assert 'name="choice" value="0.29" checked' in " ".join(shown.text.split())
    assert shown.context["odds"].amount == Decimal("0.29")


def test_nothing_is_chosen_where_no_amount_is_asked_for(admin, dataset, curator):
    requests.ask(dataset, "For the yearbook", curator)
    shown = admin.get(place(dataset))
    assert "checked" not in shown.text.partition('name="choice"')[2].partition("</fieldset>")[0]


def test_the_page_shows_what_others_have_chosen_with_sources(admin, dataset):
    page = admin.get(place(dataset)).text
    named = [choice for choice in cost.CHOICES if choice.address]
    assert named and all(f'href="{escape(choice.address)}"' in page for choice in named)


def test_another_amount_is_typed_with_a_comma_and_is_a_choice_of_its_own(admin, dataset):
    page = admin.get(place(dataset)).content.decode()
    assert 'inputmode="decimal"' in page and 'type="number" name="amount"' not in page
    assert 'name="choice" value="" data-another="amount"' in page
    assert "js/another.js" in page
    said = admin.get(reverse("grant_meaning", args=[dataset.pk]), {"choice": "", "amount": "0,5"})
    assert said.context["odds"] is not None
    before = total(dataset)
    admin.post(place(dataset), change(dataset, amount="0,5", choice=""))
    assert total(dataset) == before + Decimal("0.5")


def test_the_database_keeps_the_delta_that_was_said(curator):
    query = models.QuerySet(Budget).filter(dataset=paying_zcdp(curator))
    with pytest.raises(IntegrityError, match="The δ at which a budget's ρ is read"), transaction.atomic():
        query.update(delta_exponent=5)
    assert query.update(delta_exponent=7) == 1  # as the ledger does with each grant
