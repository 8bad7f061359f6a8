"""What a curator sees first: three steps, until a budget was asked for."""

from __future__ import annotations

import pytest

from dpportal.budgets import requests
from dpportal.datasets import demo_marker
from dpportal.datasets.models import Dataset
from tests.dpportal import building

pytestmark = pytest.mark.django_db
STEPS = "Your first release in three steps"


@pytest.mark.slow
def test_the_steps_follow_the_curator_and_go_once_a_budget_was_asked_for(client, curator):
    client.force_login(curator)
    assert STEPS in client.get("/datasets/").text
    dataset = building.stored_dataset(curator)
    page = client.get("/datasets/").text
    assert STEPS in page and f'Done: <a href="/datasets/{dataset.pk}/">' in page
    requests.ask(dataset, "For the test", curator)
    assert STEPS not in client.get("/datasets/").text


@pytest.mark.slow
@pytest.mark.parametrize("state", ["refused", "duplicate", "cancelled", "erased", "converting"])
def test_an_upload_that_left_no_table_is_no_step_done(client, curator, state):
    dataset = building.stored_dataset(curator)
    Dataset.objects.filter(pk=dataset.pk).update(state=state)
    client.force_login(curator)
    page = client.get("/datasets/").text
    assert STEPS in page
    assert "Done:" not in page


def test_beside_a_demonstration_that_is_read_only_its_examples_are_awaited(client, curator, monkeypatch):
    monkeypatch.setattr(demo_marker, "is_pending", lambda: True)
    client.force_login(curator)
    assert "The demonstration dataset is being loaded" in client.get("/datasets/").text
    dataset = building.stored_dataset(curator)
    monkeypatch.setattr(demo_marker, "DATASET", dataset.pk)
    page = client.get("/datasets/").text
    assert "is being loaded" not in page and "examples of the demonstration dataset are being made" in page
