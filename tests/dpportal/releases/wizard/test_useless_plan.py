"""Where a plan is expected to be useless, the button to press first changes it; spending takes a tick."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from tests.dpportal import building
from tests.dpportal.streams.building import draft_stream

SAID = "Spend the budget all the same: the result is expected to be useless."


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def address(draft: Release | Stream) -> str:
    return reverse(f"{'releases' if isinstance(draft, Release) else 'streams'}:review", args=[draft.pk])


def primary(page: str) -> list[str]:
    """The words of the buttons that are filled, in the page's main part, without its dialogs."""
    main = re.sub(r"<dialog.*?</dialog>", "", page[page.index("<main") :], flags=re.DOTALL)
    filled = re.findall(
        r'<(?:a|button)\s[^>]*class="button primary"[^>]*>(.*?)</(?:a|button)>', main, re.DOTALL
    )
    return [" ".join(words.split()) for words in filled]


@pytest.mark.parametrize("kind", ["release", "running count"])
def test_the_remedy_is_the_first_button_and_spending_takes_a_tick(desk, dataset, kind) -> None:
    draft: Release | Stream
    if kind == "release":
        draft, remedy = building.complete_draft(dataset, "0.001"), "Choose fewer columns"
    else:
        draft, remedy = draft_stream(dataset, amount="0.001", expected=5), "Change the periods"
    shown = desk.get(address(draft))
    assert "Expected: useless." in shown.text and primary(shown.text) == [remedy]
    assert SAID in shown.text and "Spend ε 0.001" in shown.text
    said = {"reviewed": shown.context["form"]["reviewed"].value(), "agreed": "on"}
    refused = desk.post(address(draft), said)
    assert refused.status_code == 422
    assert "Change the plan, or confirm that you spend the budget all the same." in refused.text
    draft.refresh_from_db()
    assert draft.charge is None
    assert desk.post(address(draft), {**said, "useless": "on"}).status_code == 302
    draft.refresh_from_db()
    assert draft.charge is not None


def test_where_a_cost_within_the_budget_would_do_it_is_the_remedy(desk, dataset) -> None:
    draft = building.complete_draft(dataset, "0.001")
    Release.objects.filter(pk=draft.pk).update(columns=["age"], people=3000)
    shown = desk.get(address(draft)).text
    assert primary(shown)[0].startswith("See it at ε = 0.") and len(primary(shown)) == 1
    assert ">Make its cells wider<" in shown and "fewer columns" not in shown


def test_of_two_cells_no_fewer_are_advised(desk, dataset) -> None:
    """A column of yes and no can lose neither a column nor a cell."""
    yes_or_no = dataset.current_domain().attributes.get(column="colour")
    yes_or_no.declaration = {**yes_or_no.declaration, "values": ["red", "green"]}
    yes_or_no.save()
    draft = building.complete_draft(dataset, "0.001")
    Release.objects.filter(pk=draft.pk).update(columns=["colour"], people=30)
    shown = " ".join(desk.get(address(draft)).text.split())
    assert "Expected: useless." in shown and "fewer columns" not in shown and "ells wider" not in shown
    assert "wait until the table has more people" in shown or "Change the cost" in primary(shown)


def test_one_that_is_of_use_is_spent_on_with_one_press(desk, dataset) -> None:
    shown = desk.get(address(building.complete_draft(dataset, "0.9")))
    assert primary(shown.text) == ["Spend ε 0.90 and publish"] and SAID not in shown.text


def test_a_budget_for_a_useless_plan_is_not_the_first_thing_to_ask_for(desk, curator) -> None:
    bare = building.stored_dataset(curator, "No budget yet")
    shown = desk.get(address(building.complete_draft(bare, "0.001")))
    assert "Ask for this" in shown.text and primary(shown.text) == ["Choose fewer columns"]
