"""Where the budget has too little, ε and δ are asked for together, granted together, and then the choice goes on."""

from __future__ import annotations

from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse

from dpportal.budgets.models import Budget, BudgetRequest
from dpportal.budgets.requests import news
from dpportal.value_choices.models import ValueChoice
from tests.dpportal import building
from tests.dpportal.approvals.conftest import desk_of

COST = "?amount=0.5&delta=0.0000001"
DELTA = Decimal("0.0000001")


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
