"""What the API refuses, in Chinese: whole sentences, with the marks of Chinese between what is listed."""

from __future__ import annotations

import re

import pytest
from django.db import OperationalError, connection

from dpportal.catalogue.entries import KINDS
from dpportal.platform.listed_names import in_a_row
from tests.dpportal import building
from tests.dpportal.chinese import half_width

pytestmark = pytest.mark.django_db


def refused(program, method: str, path: str, said: object = None, status: int = 422) -> str:
    """The sentence of a problem, which has no English in it beside names of the API."""
    detail: str = program.said(method, path, said, status, Accept_Language="zh-Hans")["detail"]
    assert half_width([detail]) == [] and ", " not in detail
    assert not re.search(r"[A-Za-z]+ [A-Za-z]+", detail)
    return detail


def test_kinds_and_methods_are_listed_with_the_commas_of_chinese(program, dataset):
    assert "、".join(KINDS) in refused(program, "get", "/catalogue?kind=odd")
    assert "GET、POST" in refused(program, "delete", "/datasets", status=405)


def test_fields_are_listed_so_under_the_name_that_there_is_not(program, dataset):
    plan = {"product": "histogram", "choices": {"odd": 1}, "method": {"mechanism": ""}}
    answer = program.said("post", f"/datasets/{dataset.pk}/plans", plan, 422, Accept_Language="zh-Hans")
    [said] = answer["errors"]["choices.odd"]
    assert "、" in said and ", " not in said


def test_a_column_that_there_is_not_is_named(program, dataset):
    wanted = {"column": "size", "amount": "0.1", "delta": "0.000001"}
    assert "“size”" in refused(program, "post", f"/datasets/{dataset.pk}/values/plan", wanted)


def test_a_draft_of_another_dataset_is_refused(program, dataset, curator):
    draft = building.complete_draft(building.stored_dataset(curator, "Another"))
    said = {"reason": "Ages", "release": str(draft.pk)}
    refused(program, "post", f"/datasets/{dataset.pk}/budgets/ask", said)


def test_a_busy_database_is_told_as_pages_tell_it(program, dataset):
    def locked(*_call: object) -> None:
        raise OperationalError("database is locked")

    with connection.execute_wrapper(locked):
        answer = program.send("get", "/catalogue", Accept_Language="zh-Hans")
    assert answer.status_code == 503 and answer["Retry-After"]
    assert "门户正忙" in answer.json()["detail"]


def test_a_refusal_of_several_sentences_is_said_again_sentence_by_sentence(program, dataset):
    plan = {"product": "histogram", "choices": {"columns": [], "people": -1}, "method": {"mechanism": ""}}
    answer = program.said("post", f"/datasets/{dataset.pk}/plans", plan, 422, Accept_Language="zh-Hans")
    texts = [text for texts in answer["errors"].values() for text in texts]
    assert len(texts) > 1 and answer["detail"] == in_a_row(texts)
    assert not re.search(r"[A-Za-z]+ [A-Za-z]+", answer["detail"])
