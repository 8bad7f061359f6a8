"""A method that the portal proposed follows what is asked for; one that a person picked stays."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets.models import Dataset
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from tests.dpportal.streams.building import draft_stream

BEST, OTHER = "laplace-histogram", "hierarchical-histogram"
COLUMNS = {"columns": ["colour", "age"], "people": "300"}


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


@pytest.fixture
def draft(dataset: Dataset) -> Release:
    """Of columns for which another method was the best than is for those chosen next."""
    fields: dict[str, Any] = {"columns": ["age"], "people": 300, "amount": "0.1", "mechanism": OTHER}
    return Release.objects.create(
        dataset=dataset, created_by=dataset.owner, is_method_proposed=True, **fields
    )


def address(draft: Release | Stream, step: str) -> str:
    space = "releases" if isinstance(draft, Release) else "streams"
    return reverse(f"{space}:{step}", args=[draft.pk])


def proposed(page: str) -> str:
    """The method that a page says it proposes; empty if none, as where a person picked one."""
    hidden = re.search(r'name="proposed_method" value="([^"]*)"', page)
    return hidden[1] if hidden else ""


def sent(draft: Release, **said: str) -> dict[str, str]:
    return {"amount": "0.1", "purpose": "cells", "parameter-within_bins": "smooth", **said}


def test_a_proposed_method_is_found_anew_for_other_columns(desk, draft) -> None:
    desk.post(address(draft, "columns"), {**COLUMNS, "next": "review"})
    draft.refresh_from_db()
    assert (draft.mechanism, draft.is_method_proposed) == (BEST, True)


def test_so_it_is_on_the_page_of_the_methods(desk, draft) -> None:
    assert proposed(desk.get(address(draft, "method")).text) == OTHER
    desk.post(address(draft, "columns"), COLUMNS)
    draft.refresh_from_db()
    assert draft.mechanism == ""
    assert proposed(desk.get(address(draft, "method")).text) == BEST


def test_a_method_that_somebody_picked_stays(desk, draft) -> None:
    Release.objects.filter(pk=draft.pk).update(is_method_proposed=False)
    desk.post(address(draft, "columns"), COLUMNS)
    draft.refresh_from_db()
    assert draft.mechanism == OTHER
    page = desk.get(address(draft, "method"))
    assert page.context["chosen_method"] == OTHER and not proposed(page.text)


@pytest.mark.parametrize(
    ("said", "is_proposed"),
    [
        ({"mechanism": BEST, "proposed_method": BEST}, True),
        ({"mechanism": OTHER, "proposed_method": BEST}, False),
        ({"mechanism": BEST, "proposed_method": BEST, "use": BEST}, False),
        ({"mechanism": BEST}, False),
    ],
    ids=["left as it was", "ticked another", "pressed its button", "by a program"],
)
def test_what_counts_as_picking(desk, draft, said, is_proposed) -> None:
    assert desk.post(address(draft, "method"), sent(draft, **said)).status_code == 302
    draft.refresh_from_db()
    assert draft.is_method_proposed is is_proposed


def test_another_cost_has_the_method_proposed_anew_until_one_is_ticked(desk, draft) -> None:
    live = {"HX-Request": "true"}
    left = sent(draft, mechanism=OTHER, proposed_method=OTHER)
    page = desk.post(address(draft, "offers"), left, headers=live)
    assert page.context["chosen_method"] == BEST == proposed(page.text)
    ticked = sent(draft, mechanism=OTHER, proposed_method=BEST)
    page = desk.post(address(draft, "offers"), ticked, headers=live)
    assert page.context["chosen_method"] == OTHER and not proposed(page.text)


def test_a_duplicate_knows_that_nobody_picked_its_method(draft) -> None:
    copy = services.duplicate(draft, draft.created_by, draft.dataset)
    assert copy.is_method_proposed


def test_so_it_is_of_a_running_count(desk, dataset) -> None:
    draft = draft_stream(dataset, amount=None, mechanism="", expected=4000)
    page = desk.get(address(draft, "strategy"))
    first = page.context["chosen"]
    form = page.context["form"]
    said = {"amount": form["amount"].value(), "proposed": form["proposed"].value(), "mechanism": first}
    assert proposed(page.text) == first
    assert desk.post(address(draft, "strategy"), {**said, "proposed_method": first}).status_code == 302
    draft.refresh_from_db()
    assert (draft.mechanism, draft.is_method_proposed, draft.is_amount_proposed) == (first, True, True)
    desk.post(address(draft, "timing"), {"step": "next", "horizon": "24", "expected": "400", "cells": "0"})
    draft.refresh_from_db()
    assert draft.mechanism == ""
    assert desk.post(address(draft, "strategy"), {**said, "use": "fda"}).status_code == 302
    desk.post(address(draft, "timing"), {"step": "next", "horizon": "12", "expected": "400", "cells": "0"})
    draft.refresh_from_db()
    assert draft.mechanism == "fda"
