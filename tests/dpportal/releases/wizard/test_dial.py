"""The dial of every product: a wanted error finds a cost that reaches it, and hardly more than that."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import planner_of
from mechanisms import registry
from tests.dpportal import building

# Product, columns, parameters, a method, and the error wanted of it.
QUESTIONS: list[tuple[str, list[str], dict[str, Any], str, float]] = [
    ("histogram", ["age"], {}, "laplace-histogram", 20.0),
    ("histogram", ["age"], {}, "hierarchical-histogram", 60.0),
    ("queries", ["age"], {"workload": 'ranges("age")'}, "workload", 12.5),
    ("queries", ["age"], {"workload": 'ranges("age")'}, "automatic", 3.0),
    ("response", ["colour"], {}, "randomised-response", 7.0),
    ("selection", ["age"], {"question": "most-common-value"}, "permute-and-flip", 17.0),
    (
        "means",
        ["colour", "age"],
        {"measured": ["age"], "deviation": True, "steps": {}},
        "bernstein-sums",
        4.0,
    ),
    ("summary", ["colour", "age"], {"group": "", "twice": []}, "column-tables", 2.0),
    ("microdata", ["colour", "age"], {"wishes": {}, "rows": None, "keep": None}, "independent-columns", 2.0),
]


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def drafted(dataset: Dataset, product: str, columns: list[str], parameters: dict[str, Any]) -> Release:
    return Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        product=product,
        columns=columns,
        parameters=parameters,
        people=300,
        amount="0.1",
    )


@pytest.mark.parametrize("definition", ["pure", "zcdp"])
@pytest.mark.parametrize(("product", "columns", "parameters", "method", "wanted"), QUESTIONS)
def test_a_wanted_error_finds_its_cost(
    desk: Client,
    curator,
    administrator,
    definition: str,
    product: str,
    columns: list[str],
    parameters: dict[str, Any],
    method: str,
    wanted: float,
) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator, "10", definition)
    if product == "response":
        dataset_services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
        dataset = building.granted(dataset, administrator, "10", definition)
    draft = drafted(dataset, product, columns, parameters)
    asked = {"half_width": str(wanted), "mechanism": method}
    answer = desk.get(reverse("releases:dial", args=[draft.pk]), asked)
    assert answer.status_code == 200, answer.json()
    amount = Decimal(answer.json()["amount"])

    def error(at: Decimal) -> float:
        plans = {o.mechanism.name: o.plan for o in drafts.offers(draft, at) if o.plan}
        plan = plans.get(method) or min(plans.values(), key=lambda plan: plan.total_error)
        found = planner_of(draft).error_of(plan, draft)
        assert found is not None
        return found

    assert error(amount) <= wanted < error(amount * Decimal("0.8"))
    assert len(amount.normalize().as_tuple().digits) <= 2


def test_the_lead_that_a_choice_tells_is_the_least_that_reaches_the_chance(dataset) -> None:
    draft = drafted(dataset, "selection", ["age"], {"question": "most-common-value"})
    for offer in drafts.offers(draft, Decimal("0.5")):
        assert offer.plan is not None
        chosen = registry.selection(offer.plan.mechanism)
        lead = chosen.lead(offer.plan, 0.95)
        best, other = ([lead - gap, 0] + [-(10**6)] * 8 for gap in (0, 1))
        chances = [chosen.probabilities(offer.plan, np.array(scores))[0] for scores in (best, other)]
        assert chances[0] >= 0.95 > chances[1]


@pytest.mark.parametrize("mechanism", ["privtree", "dawa-histogram", "chosen-histogram"])
def test_an_error_that_depends_on_the_data_has_no_cost(desk: Client, dataset, mechanism: str) -> None:
    draft = drafted(dataset, "histogram", ["age"], {})
    asked = {"half_width": "20", "mechanism": mechanism}
    answer = desk.get(reverse("releases:dial", args=[draft.pk]), asked)
    assert answer.status_code == 200 and "depends on the data" in answer.json()["error"]


@pytest.mark.parametrize("wanted", ["-1", "nan", "inf", "many", ""])
def test_a_wanted_error_that_is_none_is_said_so(desk: Client, dataset, wanted: str) -> None:
    draft = drafted(dataset, "queries", ["age"], {"workload": 'ranges("age")'})
    answer = desk.get(reverse("releases:dial", args=[draft.pk]), {"half_width": wanted})
    assert answer.status_code == 200 and answer.json()["error"]


def test_an_error_that_no_cost_reaches_is_said_so(desk: Client, dataset) -> None:
    draft = drafted(dataset, "selection", ["age"], {"question": "most-common-value"})
    answer = desk.get(reverse("releases:dial", args=[draft.pk]), {"half_width": "0"})
    assert answer.status_code == 200 and "allow more" in answer.json()["error"]


@pytest.mark.slow
def test_the_error_of_a_quantile_is_one_of_ranks(desk: Client, dataset) -> None:
    for question, label in (
        ("quantile", "Finds the nearer of two values 95"),
        ("most-common-value", "Finds the better of two"),
    ):
        draft = drafted(dataset, "selection", ["age"], {"question": question, "level": "1/2"})
        assert label in desk.get(reverse("releases:method", args=[draft.pk])).content.decode()
