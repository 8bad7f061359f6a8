"""A typical cell is one of a declared value: those for others and for missing values are taken to hold nobody."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import planner_of
from dpportal.releases.products.histogram import usefulness
from dpportal.releases.wizard import choices
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer

# 2 × 3 combinations of declared values; with Other and Missing 4 × 4 cells.
SEX = Categorical("sex", missing_cell=True, values=("female", "male"))
BAND = Integer("band", missing_cell=True, lower=1, upper=3)
BOTH = Domain((SEX, BAND))


def plan(amount: str):
    return registry.mechanism("laplace-histogram").plan(BOTH, {}, Loss(Definition.PURE, Fraction(amount)))


def test_margins_are_compared_with_the_people_in_a_declared_cell():
    verdict = usefulness.expected(plan("1"), 600, "cells")
    assert verdict.typical is not None and verdict.typical.answer == 100
    assert "a typical cell has 100, ± " in verdict.text


def test_sums_are_made_of_declared_cells():
    assert "of average size, of 6," in usefulness.expected(plan("0.5"), 600, "ranges").text


def test_the_page_of_the_columns_has_the_same_number():
    assert choices.cells(BOTH, ["sex", "band"], 600) | {"chosen": []} == {
        "chosen": [],
        "cells": 16,
        "of_periods": [],
        "spread_over": 6,
        "per_cell": "100",
        "many": False,
        "too_many": False,
        "too_many_columns": False,
    }


def test_the_page_of_the_columns_says_over_which_cells_people_are_spread(client, draft):
    client.force_login(draft.dataset.owner)
    text = " ".join(client.get(reverse("releases:columns", args=[draft.pk])).text.split())
    assert "<dd>5 <" in text and "by your estimate, in the 3 cells of declared values;" in text
    closed = Integer("band", lower=1, upper=3)
    assert choices.cells(Domain((closed,)), ["band"], 600)["spread_over"] is None


def test_columns_are_called_as_on_the_other_pages_of_the_draft():
    """As the title and the review read them aloud, or as they were declared to be shown."""
    columns = (
        Categorical("Person: sex_code", values=("f", "m")),
        Integer("Person: yob", lower=1, upper=3, title="Year of birth"),
    )
    shown = choices.cells(Domain(columns), ["Person: sex_code", "Person: yob"], None)["chosen"]
    assert shown == ["Person: sex code", "Year of birth"]


def test_the_cost_that_would_do_makes_it_useful():
    """Noise is spread over all 16 cells, and the margin is held against one of 6."""
    for amount in ("0.001", "0.01", "0.1"):
        enough = usefulness.expected(plan(amount), 600, "cells").amount(Decimal(amount), Definition.PURE)
        assert usefulness.expected(plan(str(enough)), 600, "cells").is_useful


@pytest.fixture
def draft(dataset):
    """300 people in three declared colours, beside the cells for others and for none."""
    colour = Categorical("colour", missing_cell=True, values=("red", "green", "blue"))
    dataset_services.declare_all(dataset, [colour])
    fields = {"columns": ["colour"], "mechanism": "laplace-histogram", "people": 300, "amount": "0.5"}
    return Release.objects.create(dataset=dataset, created_by=dataset.owner, product="histogram", **fields)


def test_all_pages_of_a_draft_speak_of_one_number(client, draft):
    client.force_login(draft.dataset.owner)
    for step, said in (("columns", "<dd>100 <"), ("method", "has 100,"), ("review", "has 100,")):
        assert said in client.get(reverse(f"releases:{step}", args=[draft.pk])).content.decode(), step


def test_so_does_one_of_randomised_answers(draft):
    draft.product, draft.mechanism = "response", "randomised-response"
    dataset_services.declare_unit(draft.dataset, neighbours="replace-one", unit_column="", max_rows=1)
    _version, plan_of_it = drafts.plan_of(draft)
    verdict = planner_of(draft).verdict(plan_of_it, draft)
    assert "average size is 100 people" in verdict.text
