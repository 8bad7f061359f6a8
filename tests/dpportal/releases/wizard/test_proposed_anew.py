"""One default for all: a cost that nobody chose follows the methods that were worked out since it was proposed."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.urls import reverse

from dpportal.jobs.search_cache import SEARCHES
from dpportal.releases import drafts, services
from dpportal.releases.models import Release
from dpportal.releases.products.queries.strategies import STRATEGIES
from dpportal.releases.wizard.dial import usual_amount
from dpportal.streams import strategy_page
from tests.dpportal.releases.products.queries.building import draft_of
from tests.dpportal.streams.building import draft_stream

TENTH = Decimal("0.10")
# Until p-Identity is found its margin is 67 people at ε 0.1, and afterwards 64.
WORKLOAD, BETWEEN = 'total + prefix("age")', 66.5


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


@pytest.fixture
def draft(dataset) -> Release:
    """A draft of which nobody chose a cost yet, useful at a tenth of ε 1 once the search has ended."""
    draft = draft_of(dataset, WORKLOAD, ["age"], mechanism="")
    workload = drafts.offers(draft, TENTH)[0].plan.workload
    draft.amount, draft.people = None, round(3 * BETWEEN * workload.cells / workload.even_sizes[1])
    draft.save()
    return draft


def work_out(draft: Release) -> None:
    for search in services.ask_strategies(draft):
        STRATEGIES.run(search.key)
    for search in SEARCHES.jobs():
        SEARCHES.run(search.pk)


def of_the_page(page) -> dict[str, str]:
    form = page.context["form"]
    sent = {name: form[name].value() for name in ("amount", "proposed", "mechanism")}
    return {**sent, "proposed_method": "automatic", "counted_in": "pure"}


def test_the_page_takes_the_lower_cost_once_a_better_method_is_there(desk, draft):
    page = desk.get(reverse("releases:method", args=[draft.pk]))
    sent, offers = of_the_page(page), reverse("releases:offers", args=[draft.pk])
    assert sent["amount"] == sent["proposed"] == "0.10"
    assert "HX-Trigger" not in desk.post(offers, sent).headers
    work_out(draft)
    usual = usual_amount(draft)
    assert usual < TENTH
    answer = desk.post(offers, sent)
    assert json.loads(answer["HX-Trigger"]) == {"cost:proposed": {"amount": str(usual)}}
    assert f"ε = {usual}" in answer.text
    # The page then sends the new one, and nothing changes any more; nor does a cost or a method that somebody chose.
    for chosen in (
        {"amount": str(usual), "proposed": str(usual)},
        {"amount": "0.2"},
        {"proposed": ""},
        {"mechanism": "haar-strategy"},
    ):
        assert "HX-Trigger" not in desk.post(offers, {**sent, **chosen}).headers


def test_a_proposal_that_was_kept_is_made_anew_and_a_choice_stays(desk, draft):
    method = reverse("releases:method", args=[draft.pk])
    assert desk.post(method, of_the_page(desk.get(method))).status_code == 302
    draft.refresh_from_db()
    assert draft.amount == TENTH and draft.is_amount_proposed
    work_out(draft)
    # Hardly less is no other proposal than the one that the review has shown; clearly less is.
    assert of_the_page(desk.get(method))["amount"] == str(TENTH)
    draft.people = 2 * draft.people
    draft.save()
    assert of_the_page(desk.get(method))["amount"] == str(usual_amount(draft)) < "0.09"
    desk.post(method, {**of_the_page(desk.get(method)), "amount": "0.2"})
    shown = of_the_page(desk.get(method))
    assert (shown["amount"], shown["proposed"]) == ("0.20", "")


def test_the_review_says_which_cost_would_do_where_nobody_chose_it_and_its_margin(desk, draft):
    draft.mechanism, draft.people = "identity-strategy", 10**6
    for is_proposed in (True, False):
        draft.price(Decimal("0.5"), drafts.budget_of(draft), is_proposed=is_proposed)
        draft.save()
        page = " ".join(desk.get(reverse("releases:review", args=[draft.pk])).text.split())
        assert ("would do instead of 0.50." in page) is is_proposed
        assert "Margin of a typical answer (95 %)" in page and "Standard error" not in page
        (offer,) = [o for o in drafts.offers(draft, draft.amount) if o.mechanism.name == draft.mechanism]
        assert f"± {1.96 * offer.plan.root_mean_error:.0f}" in page


def test_a_running_count_follows_likewise(desk, dataset):
    stream = draft_stream(dataset)
    address = reverse("streams:strategy", args=[stream.pk])
    page = desk.get(address)
    sent = {
        "amount": "9",
        "proposed": "9",
        "mechanism": page.context["chosen"],
        "proposed_method": page.context["chosen"],
    }
    answer = desk.post(address, sent, headers={"HX-Request": "true"})
    assert json.loads(answer["HX-Trigger"]) == {"cost:proposed": {"amount": "0.10"}}
    assert strategy_page.usual_amount(stream) == TENTH
    sent["proposed"] = ""
    assert "HX-Trigger" not in desk.post(address, sent, headers={"HX-Request": "true"}).headers
