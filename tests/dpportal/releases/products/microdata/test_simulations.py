"""What to expect, simulated by a worker on a made-up table: asked for once, shown when found, without any data."""

from __future__ import annotations

import json
import re

import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import Claim, JobState
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products.microdata import simulations
from dpportal.releases.products.microdata.simulations import SIMULATIONS
from mechanisms import registry
from mechanisms.microdata.simulation import Simulated
from tests.dpportal import building
from tests.dpportal.markup import folded
from tests.dpportal.releases.products.microdata.test_product import five_columns

LONG = {"latent": "latent-classes", "tree": "tree-of-pairs", "independent": "independent-columns"}

LASTS = re.compile(r"It takes about \d+ (seconds|minutes?) where nothing else is worked out\.")


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


@pytest.mark.slow
def test_the_wizard_asks_once_and_shows_what_a_worker_finds(draft, client, monkeypatch) -> None:
    fast = tuple(m for m in registry.MICRODATA if m.name not in ("latent-classes", "dp-gan"))
    monkeypatch.setattr(registry, "MICRODATA", fast)
    client.force_login(draft.dataset.owner)
    page = f"/releases/{draft.pk}/method/"
    text = client.get(page).content.decode()
    assert "is being tried out" in text and 'hx-trigger="every 2s"' in text
    assert LASTS.search(folded(text)) and "<progress" in text
    client.get(page)
    asked = SIMULATIONS.jobs().get()
    SIMULATIONS.run(asked.key)
    text = client.get(f"{page}simulation/?amount=1").content.decode()
    assert "Simulated on made-up tables" in text and "every 2s" not in text and not LASTS.search(folded(text))
    assert "and at ε = 1.00;" in text and "ε = 0.10<" in text
    for method in fast:
        assert method.title in text
    offers = client.post(f"{page}offers/", {"amount": "0.5", "mechanism": "tree-of-pairs"}).content.decode()
    assert "Simulated on made-up tables" in offers and "Shares of the cost:" in offers
    assert client.get(f"{page}simulation/?amount=much").status_code == 200
    assert draft.dataset.budgets.get().reserved == 0


@pytest.mark.slow
def test_the_first_method_is_shown_while_the_others_are_worked_out(draft, client, monkeypatch) -> None:
    fast = tuple(
        m for m in registry.MICRODATA if m.name in ("clusters", "tree-of-pairs", "independent-columns")
    )
    monkeypatch.setattr(registry, "MICRODATA", fast)
    client.force_login(draft.dataset.owner)
    page, seen = f"/releases/{draft.pk}/method/simulation/?amount=1", []
    asked = services.ask_simulation(draft)
    assert asked is not None

    def look(claim: Claim, done: int, most: int | None) -> None:
        text = client.get(page).content.decode()
        table = text.partition("</table>")[0]
        seen.append([method.name for method in fast if method.title in table])
        assert "every 2s" in text and "<progress" in text

    monkeypatch.setattr(Claim, "advance", look)
    SIMULATIONS.run(asked.key)
    assert seen[1] == [] and len(seen[2]) == 1 and len(seen) == 9
    found = SIMULATIONS.jobs().get()
    assert list(dict.fromkeys(line["method"] for line in found.answer)) == [method.name for method in fast]
    assert "every 2s" not in client.get(page).content.decode()


def test_nothing_of_the_data_is_in_the_question(draft) -> None:
    asked = services.ask_simulation(draft)
    assert asked is not None
    assert asked.question["columns"] == [[5, "category", False], [2, "truth", True], [20, "ordered", False]]
    assert asked.question["people"] == 310
    assert "j0" not in json.dumps(asked.question) and "job" not in json.dumps(asked.question)


def answered(draft: Release, **pairs: tuple[float, float, float]) -> None:
    """As if a worker had found these errors of pairs, by the first word of a method's name, at the three costs."""
    asked = services.ask_simulation(draft)
    assert asked is not None
    names = {method.name.partition("-")[0]: method.name for method in registry.MICRODATA}
    lines = [
        Simulated(names[word], amount, error, None, 1.0).to_json()
        for word, errors in pairs.items()
        for amount, error in zip(("0.1", "1", "10"), errors, strict=True)
    ]
    SIMULATIONS.jobs().filter(pk=asked.pk).update(state=JobState.DONE, answer=lines)


@pytest.mark.slow
def test_what_is_recommended_follows_from_the_simulation_alone(draft, client) -> None:
    client.force_login(draft.dataset.owner)
    page = f"/releases/{draft.pk}/method/"
    text = client.get(page).content.decode()
    assert "recommendation will appear here" in text
    disclosed = text.index("<summary>All methods side by side")
    assert text.index("<progress") < disclosed, "where the recommendation will be"
    assert "data-awaited" in text, "nothing is chosen, so the button waits"
    by_hand = client.post(f"{page}offers/", {"amount": "1", "mechanism": "tree-of-pairs"}).content.decode()
    assert "<progress" in by_hand and "data-awaited" not in by_hand
    assert "Use this" not in text and 'name="mechanism"' in text, "before it has ended nothing is recommended"
    answered(draft, latent=(0.4, 0.3, 0.1), tree=(0.4, 0.2, 0.15), independent=(0.2, 0.25, 0.24))
    polled = client.get(f"{page}simulation/?amount=1")
    assert polled.headers["HX-Trigger"] == "simulation:found"
    for amount, best, error in (
        ("0.1", "independent", "20.0 %"),
        ("1", "tree", "20.0 %"),
        ("10", "latent", "10.0 %"),
    ):
        text = client.post(f"{page}offers/", {"amount": amount}).content.decode()
        [named] = re.findall(r'name="use" value="(\w+)', text)
        assert named == best
        assert f"Simulated: {error} in the wrong cell of a pair" in text
        [chosen] = re.findall(r'value="(\w+)[\w-]*" checked', text)
        assert chosen == best, "the page begins with what it recommends"
        first = text.index(f'<th scope="row">{registry.microdata(LONG[best]).title}</th>')
        assert all(
            first <= text.index(f'<th scope="row">{m.title}</th>')
            for m in map(registry.microdata, LONG.values())
        )
    assert "the error at the nearest" not in text
    beyond = client.post(f"{page}offers/", {"amount": "0.01"}).content.decode()
    assert "the error at the nearest" in beyond and 'name="use" value="independent-columns"' in beyond


@pytest.mark.slow
def test_a_method_that_cannot_be_taken_is_not_recommended(draft, client) -> None:
    """Of two columns that are kept none may have an order; the question is then for so many columns."""
    draft.parameters = {"wishes": {"target": "ill"}, "rows": None, "keep": 2}
    draft.save()
    answered(draft, latent=(0.4, 0.3, 0.1), tree=(0.4, 0.2, 0.15), principal=(0.2, 0.1, 0.05))
    assert len(SIMULATIONS.jobs().get().question["columns"]) == 2
    client.force_login(draft.dataset.owner)
    text = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert re.findall(r'name="use" value="([\w-]+)', text) == ["tree-of-pairs"]


def test_answers_of_another_edition_are_not_taken(draft, monkeypatch) -> None:
    answered(draft, latent=(0.4, 0.3, 0.1))
    monkeypatch.setattr(simulations, "EDITION", simulations.EDITION + 1)
    asked = services.ask_simulation(draft)
    assert asked is not None and asked.state != JobState.DONE


def test_one_that_failed_is_told_and_asked_again_after_a_day(draft, client) -> None:
    asked = services.ask_simulation(draft)
    assert asked is not None
    SIMULATIONS.jobs().filter(pk=asked.pk).update(state=JobState.FAILED, failure=SIMULATIONS.too_long)
    client.force_login(draft.dataset.owner)
    text = client.get(f"/releases/{draft.pk}/method/simulation/?amount=1").content.decode()
    assert "took longer than an hour" in text
