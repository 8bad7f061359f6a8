"""A step that nobody saw is not done: the page of the review says which ones were filled in, and leads there."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release

SAID = "We filled in these steps for you."


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def states(desk: Client, draft: Release, step: str = "review") -> dict[str, str]:
    steps = desk.get(reverse(f"releases:{step}", args=[draft.pk])).context["steps"]
    return {str(step["label"]): step["state"] for step in steps}


def begun(desk: Client, dataset: Dataset, **said: str) -> Release:
    desk.post(reverse("releases:start", args=[dataset.pk]), said)
    return Release.objects.get(dataset=dataset)


def test_what_the_declaration_leads_past_is_filled_in_and_not_done(desk, dataset):
    draft = begun(desk, dataset, product="histogram", people="300")
    assert states(desk, draft) == {
        "Product": "proposed",
        "Columns and cells": "proposed",
        "Method and accuracy": "proposed",
        "Review": "current",
    }
    page = desk.get(reverse("releases:review", args=[draft.pk])).text
    assert SAID in page and page.count("(filled in for you)") == 3 and "(done)" not in page


def test_a_step_that_was_sent_is_done(desk, dataset):
    draft = begun(desk, dataset, product="histogram", people="300")
    sent = {"columns": ["age"], "people": "300", "next": "review"}
    desk.post(reverse("releases:columns", args=[draft.pk]), sent)
    assert list(states(desk, draft).values()) == ["proposed", "done", "proposed", "current"]
    desk.post(reverse("releases:product", args=[draft.pk]), {"product": "histogram"})
    method = {"mechanism": "laplace-histogram", "amount": "0.1", "purpose": "cells"}
    desk.post(reverse("releases:method", args=[draft.pk]), {**method, "parameter-within_bins": "smooth"})
    assert list(states(desk, draft).values()) == ["done", "done", "done", "current"]
    assert SAID not in desk.get(reverse("releases:review", args=[draft.pk])).text


def test_the_recommended_method_was_not_looked_at(desk, dataset):
    draft = begun(desk, dataset)
    desk.post(reverse("releases:product", args=[draft.pk]), {"product": "histogram"})
    sent = {"columns": ["age"], "people": "300", "next": "review"}
    desk.post(reverse("releases:columns", args=[draft.pk]), sent)
    assert list(states(desk, draft).values()) == ["done", "done", "proposed", "current"]
