"""Where the budget has too little, ε and δ are asked for together, granted together, and then the choice goes on."""

from __future__ import annotations

from decimal import Decimal
from html import unescape

import pytest
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import override

from dpportal.budgets import ledger
from dpportal.budgets.models import Budget, BudgetRequest
from dpportal.budgets.requests import news
from dpportal.value_choices.models import ValueChoice, title_of
from tests.dpportal import building
from tests.dpportal.approvals.conftest import desk_of
from tests.dpportal.value_choices.test_representations import requested

COST = "?amount=0.5&delta=0.0000001"
DELTA = Decimal("0.0000001")


CHINESE = {"accept-language": "zh-hans"}


@pytest.fixture
def coloured(dataset, administrator):
    """The small table, with a δ to spend."""
    terms = ledger.GrantTerms(delta=10 * DELTA)
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Colours", by=administrator, terms=terms)
    return dataset


@pytest.fixture(autouse=True)
def english_afterwards():
    """A request of the test client leaves its language behind."""
    with override("en"):
        yield


def in_chinese(column: str) -> str:
    with override("zh-hans"):
        return title_of(column)


def page(dataset) -> str:
    return reverse("values:choose", args=[dataset.pk, 0])


def asks(dataset):
    address = reverse("values:ask", args=[dataset.pk, 0]) + COST
    return desk_of(dataset.owner).post(address, {"reason": "Colours that readers ask for"}, follow=True)


def test_the_request_carries_the_delta_and_leads_back(dataset):
    desk = desk_of(dataset.owner)
    assert "Ask for this" in desk.get(page(dataset) + COST).text
    shown = asks(dataset)
    assert (shown.request["PATH_INFO"], shown.request["QUERY_STRING"]) == (
        page(dataset),
        COST[1:].replace("0.5", "0.50"),
    )
    request = BudgetRequest.objects.get()
    assert (request.cost, request.delta, request.title) == ("ε 0.50, δ 10⁻⁷", DELTA, "Values of colour")
    assert request.margin == "A value of 30 people is kept with a chance of 50 %."
    assert "A request for a budget of this dataset was sent" in shown.text
    awaited = reverse("values:ask", args=[dataset.pk, 0]) + COST
    assert desk.get(awaited, headers={"hx-request": "true"}).status_code == 204


def test_the_grant_page_shows_and_grants_it(dataset, administrator):
    asks(dataset)
    desk, address = desk_of(administrator), reverse("grant", args=[dataset.pk])
    assert "ε 0.50, δ 10⁻⁷" in desk.get(reverse("office")).text
    shown = desk.get(address)
    assert "which costs ε 0.50, δ 10⁻⁷" in " ".join(unescape(shown.text).split())
    assert "the budget is for what the request names" in shown.text
    form = shown.context["form"]
    assert form["delta"].value() == "0.0000001" and shown.context["chosen"] == "0.50"
    sent = {
        "protects": shown.context["protects"],
        "answers": BudgetRequest.objects.get().pk,
        "choice": shown.context["chosen"],
        "delta": form["delta"].value(),
        "reason": "As asked for",
    }
    assert desk.post(address, sent).status_code == 302
    budget = Budget.objects.get(dataset=dataset)
    assert (budget.total, budget.delta_total) == (Decimal("1.5"), DELTA)
    request = BudgetRequest.objects.get()
    assert request.is_granted and request.answer.startswith("ε = 0.50, δ 10⁻⁷")
    assert news(dataset.owner) == 1
    assert "Choose the values" in desk_of(dataset.owner).get(request.address).text
    assert news(dataset.owner) == 0


@pytest.mark.parametrize("cost", ["", "?amount=0.5", "?amount=x&delta=1"])
def test_nothing_is_asked_for_at_no_cost(dataset, cost):
    address = reverse("values:ask", args=[dataset.pk, 0]) + cost
    assert desk_of(dataset.owner).post(address, {"reason": "Colours"})["Location"] == page(dataset)
    assert not BudgetRequest.objects.exists() and not ValueChoice.objects.exists()


def test_without_any_budget_the_page_speaks_of_the_choice_and_of_no_draft(curator):
    bare = building.stored_dataset(curator)
    shown = desk_of(curator).get(page(bare) + COST).text
    assert "Ask the administrators for what this choice costs." in shown and "draft" not in shown


def test_who_owns_it_not_does_not_ask(dataset, other_curator):
    address = reverse("values:ask", args=[dataset.pk, 0]) + COST
    assert desk_of(other_curator).post(address, {"reason": "Colours"}).status_code == 404
    assert not BudgetRequest.objects.exists()


def test_what_it_is_for_is_said_in_the_language_of_each_reader(dataset, administrator):
    address = reverse("values:ask", args=[dataset.pk, 0]) + COST
    desk_of(dataset.owner).post(address, {"reason": "Colours"}, headers=CHINESE)
    asked, office = BudgetRequest.objects.get(), reverse("office")
    assert asked.title == "Values of colour" and "Values" not in in_chinese("colour")
    assert "For “Values of colour”" in " ".join(desk_of(administrator).get(office).text.split())
    assert in_chinese("colour") in desk_of(administrator).get(office, headers=CHINESE).text


def test_the_ledger_says_it_in_the_language_of_each_reader(coloured):
    with override("zh-hans"):
        choice = requested(coloured)
        assert choice.charge.purpose == in_chinese("colour")
    assert choice.charge.reason == "Values of colour"
    address = reverse("budgets:ledger", args=[coloured.pk])
    assert "Values of colour" in desk_of(coloured.owner).get(address).text
    assert in_chinese("colour") in desk_of(coloured.owner).get(address, headers=CHINESE).text


def test_the_bell_goes_on_with_it_only_until_it_was_chosen(coloured):
    asks(coloured)
    BudgetRequest.objects.update(state=BudgetRequest.State.GRANTED, answered_at=Now())
    bell, address = reverse("releases:finished"), BudgetRequest.objects.get().address.replace("&", "&amp;")
    assert address in desk_of(coloured.owner).get(bell).text
    requested(coloured)
    assert address not in desk_of(coloured.owner).get(bell).text
