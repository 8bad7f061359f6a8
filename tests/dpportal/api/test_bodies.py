"""Bodies of requests are read in one way only: JSON by its type, each name once, true and false as such."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from dpportal.api.declaration_schemas import Unit
from dpportal.api.release_schemas import Publish
from dpportal.api.schemas import Spend
from dpportal.api.webhook_schemas import WebhookChange
from dpportal.platform import strict_json
from dpportal.releases.models import Release
from tests.dpportal.api.calling import BASE


def posted(program, path: str, content: str, kind: str = "application/json"):
    headers = {"Authorization": f"Bearer {program.text}"}
    return program.client.generic("POST", f"{BASE}{path}", content, kind, headers=headers)


def test_a_name_that_stands_twice_spends_nothing(program, draft):
    plan = program.said("get", f"/releases/{draft.pk}/plan")
    content = f'{{"agreed": false, "agreed": true, "reviewed": {json.dumps(plan["reviewed"])}}}'
    answer = posted(program, f"/releases/{draft.pk}/spend", content)
    assert answer.status_code == 400 and "“agreed” stands twice" in answer.json()["detail"]
    assert answer["Content-Type"] == "application/problem+json" and Release.objects.get().is_draft


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded", ""])
def test_another_type_than_json_is_refused(program, draft, kind):
    answer = posted(program, f"/datasets/{draft.dataset_id}/budgets/ask", '{"reason": "x"}', kind)
    assert answer.status_code == 415 and "application/json" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/merge-patch+json"])
def test_what_is_json_by_its_type_is_read(program, draft, kind):
    answer = posted(program, f"/datasets/{draft.dataset_id}/budgets/ask", '{"reason": "x"}', kind)
    assert answer.status_code == 202


@pytest.mark.parametrize(
    ("content", "text"),
    [("9" * 5000, "more than 4300 digits"), ("NaN", "not JSON"), ("[" * 9**5, "not JSON")],
)
def test_what_cannot_be_read_says_why(program, dataset, content, text):
    answer = posted(program, "/releases", f'{{"dataset": {content}}}')
    assert answer.status_code == 400 and text in answer.json()["detail"]


@pytest.mark.parametrize("answer", ["yes", "off", "true", 1, 0, None])
def test_true_and_false_are_no_texts_and_no_numbers(answer):
    for schema, name, rest in (
        (Spend, "agreed", {"reviewed": ""}),
        (Spend, "one_row", {"reviewed": "", "agreed": True}),
        (Publish, "all_the_same", {}),
        (Unit, "ignore_case", {}),
        *([(WebhookChange, "paused", {})] if answer is not None else []),
    ):
        with pytest.raises(ValidationError, match="valid boolean"):
            schema(**{name: answer, **rest})
        assert getattr(schema(**{name: True, **rest}), name) is True


def test_a_choice_of_yes_or_no_is_no_text(program, dataset):
    choices = {"columns": ["age"], "groups": [], "people": 300, "step-0": 1}
    method = {"mechanism": "bernstein-sums", "amount": "0.5"}
    for said, status in (("no", 422), ("true", 422), (1, 422), (True, 200), (False, 200)):
        sent = {"product": "means", "choices": {**choices, "deviation": said}, "method": method}
        answer = program.said("post", f"/datasets/{dataset.pk}/plans", sent, status)
        assert status == 200 or answer["errors"] == {"choices.deviation": ["Send true or false."]}


def test_a_choice_of_one_takes_no_list_of_several(program, dataset):
    """The last one was taken, and the others passed over."""
    method = {"mechanism": "column-tables", "amount": "0.5"}
    for group, status in ((["age", "colour"], 422), ([], 422), (["colour"], 200), ("colour", 200)):
        sent = {
            "product": "summary",
            "choices": {"columns": ["age"], "group": group, "people": 300},
            "method": method,
        }
        answer = program.said("post", f"/datasets/{dataset.pk}/plans", sent, status)
        assert status == 200 or answer["errors"] == {"choices.group": ["Send one value, and no list."]}


def test_true_is_no_number(program, dataset):
    whole, number = ["Send a whole number."], ["Send a number."]
    plan = {"product": "histogram", "choices": {"columns": ["age"]}, "method": {"mechanism": ""}}
    running = {"dataset": str(dataset.pk), "name": "x", "amount": "1"}
    for act, path, said, errors in (
        ("put", "declaration", {"unit": {"max_rows": True}}, {"unit.max_rows": whole}),
        (
            "patch",
            "reading",
            {"title_lines": True, "header_lines": False},
            {"title_lines": whole, "header_lines": whole},
        ),
        ("post", "shares", {"name": "someone", "right": True}, {"right": whole}),
        (
            "post",
            "declaration/coarser",
            {"column": "age", "name": "x", "edges": [False, 9]},
            {"edges.0": [*whole, *number]},
        ),
        ("post", "plans", {**plan, "half_width": True}, {"half_width": number}),
        (
            "post",
            "plans",
            {**plan, "method": {"mechanism": "", "parameters": {"k": True}}},
            {"method.parameters.k": ["Send a text.", *whole]},
        ),
        (
            "post",
            "plans",
            {**plan, "choices": {"people": True}},
            {"choices.people": ["Write a whole number, such as 1500, 1,500 or 1 500."]},
        ),
    ):
        assert program.said(act, f"/datasets/{dataset.pk}/{path}", said, 422)["errors"] == errors
    for name in ("horizon", "expected", "largest_increment"):
        assert program.said("post", "/streams", {**running, name: True}, 422)["errors"] == {name: whole}
    assert program.said("post", "/streams", {**running, "cells": [True]}, 422)["errors"] == {"cells.0": whole}
    assert program.said("post", "/datasets/counted", {"name": "x", "max_rows": True}, 422)["errors"] == {
        "max_rows": whole
    }
    assert program.said("post", "/datasets/connected", {"table": True}, 422)["errors"] == {"table": whole}


def test_json_is_read_in_one_way():
    assert strict_json.read(b'{"a": [1, 2.5, null, {"a": true}]}') == {"a": [1, 2.5, None, {"a": True}]}
    with pytest.raises(strict_json.DoubledNameError, match="a"):
        strict_json.read(b'[{"a": 1, "a": 1}]')
    with pytest.raises(strict_json.LongNumberError):
        strict_json.read(b"-" + b"1" * 4300)
    for content in (b"NaN", b"-Infinity", b"", b"{"):
        with pytest.raises(ValueError):
            strict_json.read(content)


def test_half_a_character_and_a_place_in_a_list_are_told_in_our_words(program, dataset):
    path = f"/datasets/{dataset.pk}"
    answer = program.client.generic(
        "PATCH",
        f"{BASE}{path}",
        '{"name": "\\ud800"}',
        "application/json",
        headers={"Authorization": f"Bearer {program.text}"},
    )
    said = "Send a text without halves of characters (\\ud800 to \\udfff)."
    assert answer.status_code == 422 and answer.json()["errors"] == {"name": [said]}
    plan = {"product": "histogram", "choices": {"columns": [1.5]}, "method": {"mechanism": ""}}
    errors = program.said("post", f"{path}/plans", plan, 422)["errors"]
    assert errors["choices.columns.0"] == ["Send a text.", "Send a whole number."]


def test_a_kind_of_the_catalogue_that_there_is_not_is_a_mistake(program):
    assert set(program.said("get", "/catalogue?kind=odd", status=422)["errors"]) == {"kind"}
    assert program.said("get", "/catalogue?kind=histogram")["count"] == 0


def test_a_method_that_is_not_there_is_told_which_are(program):
    answer = program.send("delete", "/datasets")
    assert answer.status_code == 405 and answer["Content-Type"] == "application/problem+json"
    methods = ", ".join(sorted(answer["Allow"].split(", ")))
    assert answer.json()["detail"] == f"This address takes only {methods}." and "GET" in methods
