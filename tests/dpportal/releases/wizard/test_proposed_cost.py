"""A cost that the portal proposed follows what is asked for; one that a person chose stays."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.budgets.amounts import plain
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing
from dpportal.streams.models import Stream
from tests.dpportal import building
from tests.dpportal.streams.building import draft_stream

ONE, BOTH = ["age"], ["colour", "age"]
METHOD = "laplace-histogram"
OPTIONS = {"purpose": "cells", "parameter-within_bins": "smooth"}


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def address(draft: Release | Stream, step: str) -> str:
    space = "releases" if isinstance(draft, Release) else "streams"
    return reverse(f"{space}:{step}", args=[draft.pk])


def begun(dataset: Dataset) -> Release:
    return Release.objects.create(dataset=dataset, created_by=dataset.owner)


def choose_columns(desk: Client, draft: Release, columns: list[str], **said: str) -> None:
    answer = desk.post(address(draft, "columns"), {"columns": columns, "people": "30000", **said})
    assert answer.status_code == 302, answer.text


def proposed(desk: Client, draft: Release | Stream, step: str) -> str:
    shown: str = desk.get(address(draft, step)).context["form"]["amount"].value()
    return shown


def continue_with(desk: Client, draft: Release, amount: str) -> None:
    """Past the page of the method, as a browser sends it."""
    form = desk.get(address(draft, "method")).context["form"]
    said = {"amount": amount, "proposed": form["proposed"].value(), "mechanism": METHOD, **OPTIONS}
    assert desk.post(address(draft, "method"), said).url == address(draft, "review")
    draft.refresh_from_db()


@pytest.mark.parametrize(("first", "then"), [(ONE, BOTH), (BOTH, ONE)])
def test_a_proposed_cost_is_found_anew_for_other_columns(desk, dataset, first, then) -> None:
    fresh, draft = begun(dataset), begun(dataset)
    choose_columns(desk, fresh, then)
    choose_columns(desk, draft, first)
    before = proposed(desk, draft, "method")
    continue_with(desk, draft, before)
    assert draft.amount == Decimal(before)
    choose_columns(desk, draft, then)
    assert proposed(desk, draft, "method") == proposed(desk, fresh, "method") != before


def test_a_proposed_cost_is_found_anew_for_another_number_of_people(desk, dataset) -> None:
    draft = begun(dataset)
    choose_columns(desk, draft, ONE)
    before = Decimal(proposed(desk, draft, "method"))
    continue_with(desk, draft, str(before))
    choose_columns(desk, draft, ONE, people="60000")
    assert Decimal(proposed(desk, draft, "method")) < before


def test_a_recommended_plan_that_nobody_priced_is_priced_anew(desk, dataset) -> None:
    draft = begun(dataset)
    choose_columns(desk, draft, ONE, next="review")
    draft.refresh_from_db()
    before = draft.amount
    choose_columns(desk, draft, BOTH, next="review")
    draft.refresh_from_db()
    assert before is not None and draft.amount is not None and draft.amount > before


@pytest.mark.parametrize("next_page", ["", "review"])
def test_a_cost_that_somebody_chose_stays(desk, dataset, next_page) -> None:
    draft = begun(dataset)
    choose_columns(desk, draft, ONE)
    continue_with(desk, draft, "0.077")
    choose_columns(desk, draft, BOTH, next=next_page)
    draft.refresh_from_db()
    assert draft.amount == Decimal("0.077") and proposed(desk, draft, "method") == "0.077"


def test_a_cost_that_a_link_offers_was_chosen_by_whoever_followed_it(desk, dataset) -> None:
    draft = begun(dataset)
    choose_columns(desk, draft, ONE)
    form = desk.get(address(draft, "method"), {"amount": "0.09"}).context["form"]
    assert (form["amount"].value(), form["proposed"].value()) == ("0.09", "")


def test_the_review_asks_for_a_cost_before_one_that_was_for_other_columns_is_spent(desk, dataset) -> None:
    draft = begun(dataset)
    choose_columns(desk, draft, ONE, next="review")
    choose_columns(desk, draft, BOTH)
    assert desk.get(address(draft, "review")).url == address(draft, "method")


def test_a_program_that_changes_the_columns_keeps_its_own_cost_alone(dataset) -> None:
    method: dict[str, Any] = {"mechanism": METHOD, "amount": "0.3"}
    draft = begun(dataset)
    choosing.choose(draft, {"choices": {"columns": ONE, "people": 30000}, "method": method})
    choosing.choose(draft, {"choices": {"columns": BOTH}})
    assert draft.amount == Decimal("0.3")


def test_a_request_for_a_budget_carries_the_cost_of_the_columns_that_are_asked_for(desk, curator) -> None:
    bare = building.stored_dataset(curator, "No budget yet")
    fresh, draft = begun(bare), begun(bare)
    for each, columns in ((draft, ONE), (draft, BOTH), (fresh, BOTH)):
        choose_columns(desk, each, columns)
        continue_with(desk, each, proposed(desk, each, "method"))
    desk.post(address(draft, "ask"), {"reason": "For the yearbook"})
    assert draft.amount == fresh.amount and bare.budget_requests.get().cost == f"ε {plain(fresh.amount)}"


def test_a_running_count_has_its_proposed_cost_found_anew_for_other_periods(desk, dataset) -> None:
    fresh = draft_stream(dataset, amount=None, mechanism="", expected=400, horizon=24)
    draft = draft_stream(dataset, amount=None, mechanism="", expected=4000)
    before = desk.get(address(draft, "strategy")).context["form"]
    said = {"amount": before["amount"].value(), "proposed": before["proposed"].value(), "mechanism": "fda"}
    assert desk.post(address(draft, "strategy"), said).url == address(draft, "review")
    desk.post(address(draft, "timing"), {"step": "next", "horizon": "24", "expected": "400", "cells": "0"})
    after = proposed(desk, draft, "strategy")
    assert after == proposed(desk, fresh, "strategy") != said["amount"]


def test_a_running_count_keeps_the_cost_that_somebody_chose(desk, dataset) -> None:
    draft = draft_stream(dataset, amount=None, mechanism="", expected=4000)
    said = {"amount": "0.123", "proposed": proposed(desk, draft, "strategy"), "mechanism": "fda"}
    assert desk.post(address(draft, "strategy"), said).url == address(draft, "review")
    desk.post(address(draft, "timing"), {"step": "next", "horizon": "24", "expected": "400", "cells": "0"})
    assert proposed(desk, draft, "strategy") == "0.123"
