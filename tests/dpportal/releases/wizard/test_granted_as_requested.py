"""The page of the method opens at the cost that the review has shown, whatever is left of a budget that came since."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.budgets.amounts import plain
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.streams import drafts
from dpportal.streams.models import Stream
from tests.dpportal import building
from tests.dpportal.streams.building import draft_stream

WHY = {"reason": "For the yearbook"}


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


@pytest.fixture
def bare(curator) -> Dataset:
    return building.stored_dataset(curator, "No budget yet")


def recommended(desk: Client, dataset: Dataset) -> Release:
    """A draft whose method and cost the portal filled in; 160 people make it no more than coarse."""
    asked = {"product": "histogram", "people": "160"}
    assert desk.post(reverse("releases:start", args=[dataset.pk]), asked).url.endswith("/review/")
    draft = Release.objects.get(dataset=dataset)
    assert draft.is_amount_proposed
    return draft


def shown(desk: Client, draft: Release | Stream) -> dict[str, str]:
    """The fields of the page of its cost, as a browser sends them."""
    step = "releases:method" if isinstance(draft, Release) else "streams:strategy"
    form = desk.get(reverse(step, args=[draft.pk])).context["form"]
    return {name: form[name].value() or "" for name in ("amount", "proposed", "mechanism")}


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_what_was_reviewed_and_granted_is_not_proposed_at_a_tenth(desk, bare, administrator, is_asked_for):
    draft = recommended(desk, bare)
    if is_asked_for:
        desk.post(reverse("releases:ask", args=[draft.pk]), WHY)
        assert bare.budget_requests.get().amount == draft.amount
    building.granted(bare, administrator, plain(draft.amount))
    sent = shown(desk, draft)
    assert Decimal(sent["amount"]) == draft.amount
    offers = desk.post(reverse("releases:offers", args=[draft.pk]), sent)
    assert "HX-Trigger" not in offers.headers
    options = {"purpose": "cells", "parameter-within_bins": "smooth"}
    assert desk.post(reverse("releases:method", args=[draft.pk]), {**sent, **options}).status_code == 302
    assert Release.objects.get(pk=draft.pk).amount == draft.amount


def test_what_was_asked_for_stays_where_less_would_do(desk, bare, administrator):
    draft = recommended(desk, bare)
    Release.objects.filter(pk=draft.pk).update(people=10**6)
    assert Decimal(shown(desk, draft)["amount"]) < draft.amount
    desk.post(reverse("releases:ask", args=[draft.pk]), WHY)
    assert Decimal(shown(desk, draft)["amount"]) == draft.amount


def test_a_running_count_opens_at_what_was_granted(desk, bare, administrator):
    stream = draft_stream(bare)
    stream.price(Decimal("0.046"), drafts.budget_of(stream), is_proposed=True)
    stream.save()
    desk.post(reverse("streams:ask", args=[stream.pk]), WHY)
    building.granted(bare, administrator, "0.046")
    sent = shown(desk, stream)
    assert Decimal(sent["amount"]) == stream.amount
    answer = desk.post(reverse("streams:strategy", args=[stream.pk]), sent, headers={"HX-Request": "true"})
    assert "HX-Trigger" not in answer.headers


def test_a_private_choice_opens_at_what_was_granted(desk, bare, administrator):
    desk.post(reverse("releases:start", args=[bare.pk]), {"product": "selection"})
    draft = Release.objects.get(dataset=bare)
    asked = {
        "columns": "colour",
        "question": "most-common-value",
        "picks": "1",
        "people": "160",
        "next": "review",
    }
    answer = desk.post(reverse("releases:columns", args=[draft.pk]), asked)
    assert answer.status_code == 302, answer.text
    draft.refresh_from_db()
    assert draft.amount and draft.is_amount_proposed
    building.granted(bare, administrator, plain(draft.amount))
    assert Decimal(shown(desk, draft)["amount"]) == draft.amount
