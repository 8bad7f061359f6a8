"""What to expect, simulated by a worker on a made-up table: asked for once, shown when found, without any data."""

from __future__ import annotations

import json

import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.releases import services, tasks
from dpportal.releases.models import Release, Simulation
from dpportal.releases.products.microdata import product, simulations
from dpportal.running.jobs import JobState
from mechanisms import registry
from tests.dpportal import building
from tests.dpportal.releases.products.microdata.test_product import five_columns


@pytest.fixture
def draft(curator: User, administrator: User) -> Release:
    dataset: Dataset = building.granted(five_columns(curator), administrator, "100")
    return Release.objects.create(
        dataset=dataset,
        created_by=curator,
        product="microdata",
        columns=["job", "ill", "age"],
        parameters={"wishes": {}, "rows": None, "keep": None},
        people=312,
        amount="1",
    )


def test_the_wizard_asks_once_and_shows_what_a_worker_finds(draft, client, monkeypatch) -> None:
    fast = tuple(m for m in registry.MICRODATA if m.name not in ("latent-classes", "dp-gan"))
    monkeypatch.setattr(registry, "MICRODATA", fast)
    client.force_login(draft.dataset.owner)
    page = f"/releases/{draft.pk}/method/"
    text = client.get(page).content.decode()
    assert "is being simulated" in text and 'hx-trigger="every 2s"' in text
    client.get(page)
    asked = Simulation.objects.get()
    tasks.simulate(asked.key)
    text = client.get(f"{page}simulation/?amount=1").content.decode()
    assert "Simulated on a made-up table" in text and "every 2s" not in text
    assert "between them at ε = 1" in text and "ε = 0.1<" in text
    for method in fast:
        assert method.title in text
    offers = client.post(f"{page}offers/", {"amount": "0.5", "mechanism": "tree-of-pairs"}).content.decode()
    assert "Simulated on a made-up table" in offers and "Shares of the cost:" in offers
    assert client.get(f"{page}simulation/?amount=much").status_code == 200
    assert draft.dataset.budgets.get().reserved == 0


def test_nothing_of_the_data_is_in_the_question(draft) -> None:
    asked = services.ask_simulation(draft)
    assert asked is not None
    assert asked.question["columns"] == [[5, "category", False], [2, "truth", True], [20, "ordered", False]]
    assert asked.question["people"] == 310
    assert "j0" not in json.dumps(asked.question) and "job" not in json.dumps(asked.question)


def test_a_look_ahead_does_not_take_the_memory_of_a_release(draft, client, monkeypatch) -> None:
    monkeypatch.setattr(product, "MOST_CELLS", 100)
    assert services.ask_simulation(draft) is None
    client.force_login(draft.dataset.owner)
    text = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "Methods compared" in text and "simulated" not in text and not Simulation.objects.exists()


def test_one_that_failed_is_told_and_asked_again_after_a_day(draft, client) -> None:
    asked = services.ask_simulation(draft)
    assert asked is not None
    Simulation.objects.filter(pk=asked.pk).update(state=JobState.FAILED, failure=simulations.TOO_LONG)
    client.force_login(draft.dataset.owner)
    text = client.get(f"/releases/{draft.pk}/method/simulation/?amount=1").content.decode()
    assert "took longer than an hour" in text
