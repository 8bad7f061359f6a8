"""The price comes before the budget: every wizard is open without one, and ends in a request for exactly that."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import Role, User
from dpportal.budgets import requests
from dpportal.budgets.models import Budget
from dpportal.datasets import sharing
from dpportal.datasets.models import Dataset, Right
from dpportal.publications.cost_search import least_useful
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, planner_of
from dpportal.releases.products.histogram.form import usual_columns
from dpportal.releases.products.shared.average_group import declared_cells
from dpportal.releases.wizard.dial import usual_amount
from dpportal.streams.models import Stream
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from tests.dpportal import building
from tests.dpportal.streams.building import draft_stream

WHY = "For the yearbook"


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


@pytest.fixture
def bare(curator) -> Dataset:
    return building.stored_dataset(curator, "No budget yet")


def page(desk: Client, draft: Release | Stream, step: str) -> str:
    space = "releases" if isinstance(draft, Release) else "streams"
    answer = desk.get(reverse(f"{space}:{step}", args=[draft.pk]))
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def test_a_draft_without_a_budget_is_asked_for_with_its_price_and_margin(desk, bare, administrator, settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    User.objects.filter(pk=administrator.pk).update(email="admin@example.org")
    draft = building.complete_draft(bare, "0.5")
    assert "on the next page you ask" in page(desk, draft, "method")
    review = page(desk, draft, "review")
    assert "Ask for this" in review and "Spend ε" not in review and "I understand" not in review
    desk.post(reverse("releases:ask", args=[draft.pk]), {"reason": WHY})
    asked = bare.budget_requests.get()
    assert (asked.reason, asked.cost, asked.title) == (WHY, "ε 0.50", draft.title or draft.proposed_title)
    assert asked.margin.startswith("Margin of a count (95 %): ± ") and "people" in asked.margin
    assert asked.address == reverse("releases:review", args=[draft.pk])
    building.deliver_mail()
    assert "ε 0.50" in mail.outbox[0].body and asked.margin in mail.outbox[0].body
    office = Client()
    office.force_login(administrator)
    for shown in (office.get(reverse("office")).text, office.get(reverse("grant", args=[bare.pk])).text):
        assert WHY in shown and "ε 0.50" in shown and asked.margin in shown
    assert "You can leave this page" in page(desk, draft, "review")
    assert not Budget.objects.exists() and draft.state == Release.State.DRAFT


def test_once_it_is_granted_the_same_draft_is_paid_for(desk, bare, administrator):
    draft = building.complete_draft(bare)
    building.granted(bare, administrator)
    assert "Spend ε 0.10 and release" in page(desk, draft, "review")


def test_a_price_in_epsilon_is_not_read_as_rho_by_the_budget_that_comes(desk, bare, administrator):
    draft = building.complete_draft(bare)
    sent = {"mechanism": "laplace-histogram", "amount": "0.29", "purpose": "cells"}
    assert desk.post(reverse("releases:method", args=[draft.pk]), sent).status_code == 302
    building.granted(bare, administrator, definition="zcdp")
    fresh = Release.objects.get(pk=draft.pk)
    assert fresh.amount == Decimal("0.29") and fresh.amount_of(drafts.budget_of(fresh)) is None
    with pytest.raises(DraftError, match="Choose how much"):
        drafts.plan_of(fresh)
    assert 'value="0.29"' not in page(desk, fresh, "method")


def test_a_page_in_epsilon_does_not_price_a_budget_in_rho_that_came_meanwhile(desk, bare, administrator):
    draft, stream = building.complete_draft(bare), draft_stream(bare)
    steps = {
        reverse("releases:method", args=[draft.pk]): {"mechanism": "laplace-histogram", "purpose": "cells"},
        reverse("streams:strategy", args=[stream.pk]): {"mechanism": "fda"},
    }
    assert all('name="counted_in" value="pure"' in desk.get(step).text for step in steps)
    building.granted(bare, administrator, definition="zcdp")
    for step, chosen in steps.items():
        answer = desk.post(step, {**chosen, "amount": "0.29", "counted_in": "pure"})
        assert answer.status_code in (200, 422) and "counted in ρ by now" in answer.text
    assert Release.objects.get(pk=draft.pk).amount != Decimal("0.29")


def test_who_asked_stays_at_the_draft_and_hears_there_of_the_answer(desk, bare, administrator):
    draft = building.complete_draft(bare)
    review, ask = (reverse(f"releases:{step}", args=[draft.pk]) for step in ("review", "ask"))
    assert "To publish: Colours by age" in page(desk, draft, "review")
    assert desk.post(ask, {"reason": WHY}).url == review
    assert desk.get(ask, headers={"HX-Request": "true"}).status_code == 204
    assert desk.get(ask).url == review
    asked = bare.budget_requests.get()
    building.granted(bare, administrator)
    requests.answer_by_grant(asked, "ε = 1.00", "As asked")
    reloaded = desk.get(ask, headers={"HX-Request": "true"})["HX-Redirect"]
    # An open tab, which perhaps nobody sees, loads itself again: that is no news read.
    assert reloaded.startswith(f"{review}?") and desk.get(reloaded).status_code == 200
    listed = " ".join(desk.get(reverse("datasets:list")).text.split())
    assert f'href="{review}"' in listed and "Continue with “Colours by age”" in listed
    page(desk, draft, "review")
    assert f'href="{review}"' not in desk.get(reverse("datasets:list")).text


def test_what_is_recommended_is_reviewed_without_a_step_between(desk, dataset):
    desk.post(reverse("releases:start", args=[dataset.pk]), {"product": "histogram"})
    draft = Release.objects.get(dataset=dataset)
    columns = reverse("releases:columns", args=[draft.pk])
    sent = {"columns": ["colour", "age"], "people": "300"}
    assert desk.post(columns, {**sent, "next": "review"}).url == reverse("releases:review", args=[draft.pk])
    draft.refresh_from_db()
    assert draft.amount == usual_amount(draft) and draft.mechanism == "laplace-histogram"
    assert draft.parameters["within_bins"] == "smooth"
    assert "Continue with the recommended method" in page(desk, draft, "columns")
    sent = {"mechanism": "laplace-histogram", "amount": "0.29", "purpose": "cells"}
    assert desk.post(reverse("releases:method", args=[draft.pk]), sent).status_code == 302
    # Somebody who chose before chooses again on the page of methods.
    assert "Continue with the recommended method" not in page(desk, draft, "columns")


def test_what_is_beyond_the_budget_is_asked_for_too(desk, dataset):
    draft = building.complete_draft(dataset)
    sent = {"mechanism": "laplace-histogram", "amount": "7", "purpose": "cells"}
    assert desk.post(reverse("releases:method", args=[draft.pk]), sent).status_code == 302
    review = page(desk, draft, "review")
    assert "Ask for this" in review and "ε = 1.00 left" in review
    answer = desk.post(reverse("releases:ask", args=[draft.pk]), {"reason": " "}, follow=True)
    assert "Say in a sentence" in answer.text and not dataset.budget_requests.exists()


def test_who_may_only_release_cannot_ask(client, bare, curator):
    partner = User.objects.create_user("partner", password="x", role=Role.CURATOR)
    sharing.share(bare, "partner", Right.RELEASE, curator)
    draft = building.complete_draft(bare)
    client.force_login(partner)
    assert "Only an owner" in page(client, draft, "review")
    client.post(reverse("releases:ask", args=[draft.pk]), {"reason": WHY})
    assert not bare.budget_requests.exists()


def test_a_running_count_has_its_price_before_its_budget(desk, bare):
    stream = draft_stream(bare)
    assert "on the next page you ask" in page(desk, stream, "strategy")
    assert "Ask for this" in page(desk, stream, "review")
    desk.post(reverse("streams:ask", args=[stream.pk]), {"reason": WHY})
    asked = bare.budget_requests.get()
    assert asked.amount == stream.amount and asked.margin.endswith("at the end")


@pytest.mark.parametrize("threshold", ["0.0004", "0.0073", "0.284349", "0.5", "0.99", "1"])
def test_the_least_useful_cost_has_two_digits_and_is_hardly_more(threshold):
    """Against the threshold itself, which the search is not told."""
    true = Decimal(threshold)
    least = least_useful(Decimal(1), lambda amount: amount >= true)
    assert least is not None and true <= least <= max(Decimal("0.001"), true * Decimal("1.13"))
    assert len(least.normalize().as_tuple().digits) <= 2
    assert least_useful(Decimal("0.9") * true, lambda amount: amount >= true) is None


def level(draft: Release, amount: Decimal) -> str:
    plan = next(o.plan for o in drafts.offers(draft, amount) if o.mechanism.name == "laplace-histogram")
    verdict = planner_of(draft).verdict(plan, draft)
    assert verdict is not None
    return verdict.level.value


def test_a_draft_begins_at_the_cost_that_is_just_useful_within_a_tenth_of_what_is_left(
    dataset, administrator
):
    building.granted(dataset, administrator, "9")
    draft = building.complete_draft(dataset)
    draft.mechanism, draft.people = "laplace-histogram", 3000
    usual = usual_amount(draft)
    assert usual < 1 and level(draft, usual) == "useful" and level(draft, usual * Decimal("0.85")) == "coarse"
    for people in (None, 3):  # unknown, or hopeless
        draft.people = people
        assert usual_amount(draft) == 1


def test_without_a_budget_what_is_at_least_coarse_is_proposed_if_it_is_not_dear(dataset, bare, administrator):
    building.granted(dataset, administrator, "1")
    paid, unpaid = building.complete_draft(dataset), building.complete_draft(bare)
    for draft in (paid, unpaid):
        draft.mechanism, draft.people = "laplace-histogram", 160
    assert usual_amount(paid) == Decimal("0.2")
    usual = usual_amount(unpaid)
    assert 1 < usual <= 3 and level(unpaid, usual) == "coarse"
    assert level(unpaid, usual * Decimal("0.85")) == "doubtful"
    unpaid.people = 3000
    assert usual_amount(unpaid) < 1 and level(unpaid, usual_amount(unpaid)) == "useful"
    unpaid.people = 8
    assert usual_amount(unpaid) == Decimal("0.1")


def test_an_estimate_of_the_people_leads_from_the_declaration_to_the_review(desk, dataset):
    start = reverse("releases:start", args=[dataset.pk])
    asked = {"product": "histogram", "people": "300"}
    first = desk.post(start, asked).url
    draft = Release.objects.get(dataset=dataset)
    assert first == reverse("releases:review", args=[draft.pk]) and draft.amount == usual_amount(draft)
    assert draft.columns == ["colour", "age"]
    for wrong in ("", "many", "0"):
        assert desk.post(start, {**asked, "people": wrong}).url.endswith("/columns/")


def test_columns_are_ticked_in_advance_by_the_declaration_and_the_estimate(desk, dataset):
    town = Categorical("town", values=tuple(f"t{n}" for n in range(400)))
    sex, age = Categorical("sex", values=("f", "m"), closed=True), Integer("age", lower=0, upper=99)
    coarse = replace(Integer("age group", lower=0, upper=99, width=10), source="age")
    declared = Domain((town, sex, age, coarse, Boolean("employed", closed=True)))
    assert usual_columns(declared, 10**6) == ["town", "sex"]
    assert usual_columns(declared, 4000) == ["sex", "age"]
    assert usual_columns(declared, 1000) == ["sex", "age group"]
    assert usual_columns(declared, 30) == ["sex"] == usual_columns(Domain((town, sex, age)), 30)
    assert usual_columns(Domain((sex, town)), 30) == ["sex", "town"]


def test_the_dial_says_what_the_margin_is_beside_a_typical_cell_and_what_would_do(desk, dataset):
    draft = building.complete_draft(dataset)
    cells = declared_cells(drafts.domain_of(draft)[1])
    Release.objects.filter(pk=draft.pk).update(people=100 * cells)
    turned = {"epsilon": "0.5", "mechanism": "laplace-histogram"}
    # Laplace noise of scale 2: ± 6 of 100 people in a cell.
    assert "± 6 is 6 % of a typical cell; ε 0." in (
        worth := desk.get(reverse("releases:dial", args=[draft.pk]), turned).json()["worth"]
    )
    assert worth.endswith("would do instead of 0.50.") and worth in page(desk, draft, "method") + worth
    Release.objects.filter(pk=draft.pk).update(people=cells)
    worth = desk.get(reverse("releases:dial", args=[draft.pk]), turned).json()["worth"]
    assert worth.startswith("± 6 is more than a typical cell; it takes ε ")
