"""Choices of every product, said as a program says them; what was chosen, said again, makes the same plan."""

from __future__ import annotations

import pytest

from dpportal.datasets import services
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing
from dpportal.releases.wizard.choosing import DraftChoiceError
from tests.dpportal import building

AGES = {"columns": ["age"], "people": 300}
BOTH = {"columns": ["colour", "age"], "people": 300}
# Product, its choices, and a method.
SAID = [
    ("histogram", BOTH, "laplace-histogram"),
    ("summary", BOTH, ""),
    ("means", {"groups": ["colour"], **AGES}, ""),
    ("microdata", BOTH, ""),
    ("queries", {"kind": "marginals", "columns": ["colour", "age"], "ways": 2}, ""),
    ("queries", {"kind": "prefix", "column": "age"}, ""),
    ("queries", {"kind": "product", "ask-0": "identity", "ask-1": "prefix"}, ""),
    ("selection", {"question": "quantile", "level": "0.25", "picks": 1, **AGES}, ""),
    ("response", AGES, ""),
]


def chosen(dataset, said) -> Release:
    draft = Release(dataset=dataset, created_by=dataset.owner)
    choosing.choose(draft, said)
    return draft


@pytest.mark.slow
@pytest.mark.parametrize(("product", "choices", "mechanism"), SAID)
def test_what_was_chosen_said_again_makes_the_same_plan(dataset, product, choices, mechanism):
    if product == "response":  # made for this promise alone
        services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    begun = chosen(dataset, {"product": product, "choices": choices})
    methods = [offer.mechanism.name for offer in drafts.offers(begun, building.left(dataset)) if offer.plan]
    method = {"mechanism": mechanism or methods[0], "amount": "0.5"}
    draft = chosen(dataset, {"product": product, "choices": choices, "method": method, "title": "Test"})
    again = chosen(dataset, choosing.as_chosen(draft))
    assert drafts.plan_of(again)[1].to_json() == drafts.plan_of(draft)[1].to_json()
    assert (again.title, again.people, again.parameters) == (draft.title, draft.people, draft.parameters)


def test_the_first_step_that_is_wrong_is_named(dataset):
    with pytest.raises(DraftChoiceError, match="Choose between one and four columns") as refused:
        chosen(dataset, {"choices": {"columns": [], "people": 300}, "method": {"mechanism": "guess"}})
    assert refused.value.step == "choices" and set(refused.value.errors) == {"columns"}


@pytest.mark.parametrize(
    "said",
    [
        {"choices": {**AGES, "colums": ["colour"]}},
        {
            "choices": AGES,
            "method": {"mechanism": "laplace-histogram", "amount": "1", "parameters": {"colums": 1}},
        },
    ],
)
def test_a_name_that_nothing_has_is_a_mistake(dataset, said):
    with pytest.raises(DraftChoiceError, match="There is no choice “colums” here"):
        chosen(dataset, said)
