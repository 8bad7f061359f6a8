"""Datasets by a program: uploaded once for a key, declared, looked at, erased; budgets read and asked for."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from dpportal.accounts.models import AuditEntry
from dpportal.api import repeating
from dpportal.api.repeating import RepeatableRequest
from dpportal.budgets import ledger
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets import codebooks, take_codebook
from dpportal.datasets.domain_fit_job import FITS
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset, DomainVersion, Right, Share
from dpportal.jobs.claims import JobState
from dpportal.platform import storage
from dpportal.releases.models import Release
from mechanisms.domain import Boolean
from tests.dpportal import building
from tests.dpportal.api.calling import BASE
from tests.dpportal.unlocked_storage import unlocked_storage

CONTENT = b"age,sex\n" + b"".join(b"%d,%s\n" % (i % 90, b"mf"[i % 2 : i % 2 + 1]) for i in range(200))


def upload(program, content: bytes = CONTENT, key: str = "", **fields: str):
    file = SimpleUploadedFile("people.csv", content)
    headers = {"Authorization": f"Bearer {program.text}", **({"Idempotency-Key": key} if key else {})}
    return program.client.post(
        f"{BASE}/datasets", {"file": file, "arrived": "whole", **fields}, headers=headers
    )


def test_an_upload_is_read_once_for_its_key(program):
    key = str(uuid4())
    sent, again = upload(program, key=key, name="People"), upload(program, key=key, name="People")
    assert (sent.status_code, again.status_code) == (201, 200)
    assert sent.json()["id"] == again.json()["id"] and sent.json()["state"] == "converting"
    CONVERSIONS.run(Dataset.objects.get().pk)
    shown = program.said("get", f"/datasets/{sent.json()['id']}")
    assert (shown["state"], shown["columns"], shown["asks_for_unit"]) == ("stored", ["age", "sex"], True)


def test_no_lock_is_held_while_an_upload_is_stored(program):
    """A file server may be slow, and SQLite has one lock for all who write."""
    with unlocked_storage():
        assert upload(program, key=str(uuid4())).status_code == 201


def test_an_upload_whose_key_another_request_takes_meanwhile_leaves_nothing(program, monkeypatch):
    key = str(uuid4())
    assert upload(program, key=key).status_code == 201
    before = set(storage.names_under("records"))
    monkeypatch.setattr(repeating.RepeatableRequest, "earlier", lambda _request: None)  # it was asked before
    assert upload(program, key=key).status_code == 409
    assert Dataset.objects.count() == 1 and set(storage.names_under("records")) == before


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (CONTENT.replace(b"m", b"f"), {"name": "People"}),  # as long, and other people
        (CONTENT, {"name": "Persons"}),
        (CONTENT, {"name": "People", "delimiter": ";"}),
    ],
)
def test_another_upload_with_a_known_key_is_refused(program, content, fields):
    key = str(uuid4())
    assert upload(program, key=key, name="People").status_code == 201
    refused = upload(program, content, key=key, **fields)
    assert refused.status_code == 422 and refused["Content-Type"] == "application/problem+json"
    assert "new key" in refused.json()["detail"] and Dataset.objects.count() == 1
    assert upload(program, key=key, name="People").status_code == 200


def test_of_two_at_once_with_one_key_the_later_one_is_told_when_to_come_again(program, monkeypatch):
    key = str(uuid4())
    assert upload(program, key=key, name="People").status_code == 201
    # As it is for one that asked before the other's answer was kept.
    monkeypatch.setattr(RepeatableRequest, "earlier", lambda _self: None)
    answer = upload(program, key=key, name="People")
    assert answer.status_code == 409 and answer["Retry-After"] == "1"
    assert Dataset.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "fields", "name"),
    [
        (b"", {}, "file"),
        (CONTENT, {"encoding": "morse"}, "encoding"),
        (CONTENT, {"arrived": ""}, "arrived"),
    ],
)
def test_an_upload_that_is_refused_says_why(program, content, fields, name):
    answer = upload(program, content, **fields)
    assert answer.status_code == 422 and name in answer.json()["errors"]
    assert not Dataset.objects.exists()


def test_a_table_is_sent_as_a_form(program):
    for content, kind in ((b"", ""), (b"{}", "application/json"), (CONTENT, "text/csv")):
        headers = {"Authorization": f"Bearer {program.text}"}
        answer = program.client.generic("POST", f"{BASE}/datasets", content, kind, headers=headers)
        assert answer.status_code == 415 and "multipart/form-data" in answer.json()["detail"]


def test_why_a_table_was_refused_is_read_by_its_owners_alone(program, stranger, dataset):
    """The reason names a row by its number, so it tells about how many there are."""
    why = "Row 4,711 has a value in column 3, but the first row names 2 columns."
    Conversion.objects.filter(dataset=dataset).update(state=JobState.FAILED, failure=why)
    for right in (Right.SEE, Right.RELEASE):
        Share.objects.update_or_create(dataset=dataset, person=stranger.token.by, defaults={"right": right})
        for path in (f"/datasets/{dataset.pk}", "/datasets"):
            assert "4,711" not in stranger.send("get", path).content.decode()
    assert program.said("get", f"/datasets/{dataset.pk}")["reading"]["failure"] == why


def test_what_is_declared_so_already_changes_nothing(program, dataset):
    said = {"columns": program.said("get", f"/datasets/{dataset.pk}/declaration")["columns"], "unit": {}}
    DomainVersion.objects.update(frozen=True)
    program.said("put", f"/datasets/{dataset.pk}/declaration", said)
    assert dataset.current_domain().version == 1
    said["columns"]["colour"] = ["red", "green"]
    assert program.said("put", f"/datasets/{dataset.pk}/declaration", said)["version"] == 2


def test_yes_and_no_that_a_program_does_not_spell_are_as_the_table_writes_them(program, dataset):
    Dataset.objects.update(columns=[{"name": "smokes"}], column_looks=[{"truths": ["N", "Y"]}])
    address, said = f"/datasets/{dataset.pk}/declaration", {"columns": {"smokes": {"kind": "boolean"}}}
    assert program.said("put", address, said)["columns"]["smokes"]["values"] == ["N", "Y"]
    spelled = {"columns": {"smokes": {"kind": "boolean", "values": ["false", "true"]}}}
    program.said("put", address, spelled)
    # What is declared stays, however often the shorter form is sent.
    assert program.said("put", address, said)["columns"]["smokes"]["values"] == ["false", "true"]


@pytest.mark.parametrize(
    ("more", "missing"),
    [({}, None), ({"missing_cell": True}, 2), ({"closed": False}, 0), ({"closed": True, "misfits_to": 1}, 1)],
)
def test_what_is_neither_yes_nor_no_is_left_out_unless_a_program_says_otherwise(
    program, dataset, more, missing
):
    """As on pages: an empty field is no “no”. A codebook that counts it as one says so, and is read so again."""
    Dataset.objects.update(columns=[{"name": "smokes"}], column_looks=[{}])
    address = f"/datasets/{dataset.pk}/declaration"
    columns = program.said("put", address, {"columns": {"smokes": {"kind": "boolean", **more}}})["columns"]
    [declared] = dataset.current_domain().domain().project(["smokes"]).attributes
    assert isinstance(declared, Boolean) and declared.missing == missing
    assert codebooks.read(json.dumps(columns).encode(), ["smokes"]).attributes == (declared,)
    [lines] = codebooks.read(codebooks.as_csv(take_codebook.written(dataset)).encode(), ["smokes"]).attributes
    assert lines.missing == missing


def test_what_was_promised_can_be_read_before_somebody_else_is_protected(program, dataset):
    address = f"/datasets/{dataset.pk}/declaration"
    assert program.said("get", address)["promises"] == []
    ledger.spend(building.requested_release(dataset).charge)
    [promise] = program.said("get", address)["promises"]
    assert "each row, as one person" in promise and "does not take it back" in promise


def test_a_declaration_is_taken_whole_or_not_at_all(program, dataset):
    said = {"unit": {"max_rows": 3, "unit_column": "age"}, "columns": {"age": {"kind": "poem"}}}
    answer = program.said("put", f"/datasets/{dataset.pk}/declaration", said, 422)
    assert answer["detail"]
    assert dataset.current_domain().unit_column == ""


INTEGER = {"kind": "integer", "lower": 0, "upper": 99, "width": 10}
DAYS = {"kind": "date", "lower": "2019-01-01", "upper": "2020-01-01", "step": "month"}
REAL = {"kind": "real", "lower": 0, "upper": 9, "bins": 10}
STEPS = {"kind": "real", "lower": 0, "upper": 9, "step": 0.5}
WRONG_FIELDS = [
    ({"columns": {"age": {**INTEGER, "width": "x"}}}, "columns.age.width", "a whole number"),
    ({"columns": {"age": {**INTEGER, "width": 0.5}}}, "columns.age.width", "a whole number"),
    ({"columns": {"age": {**INTEGER, "upper": "99"}}}, "columns.age.upper", "a whole number"),
    ({"columns": {"age": {**INTEGER, "step": "0.x"}}}, "columns.age.step", "left out"),
    ({"columns": {"age": {**INTEGER, "missing_cell": "yes"}}}, "columns.age.missing_cell", "true or false"),
    ({"columns": {"age": {**INTEGER, "lower": 100}}}, "columns.age", "exchange them"),
    ({"columns": {"age": {"kind": "integer", "lower": 0, "width": 1}}}, "columns.age.upper", "given"),
    ({"columns": {"age": {"kind": "real", "upper": 5}}}, "columns.age.lower", "given"),
    ({"columns": {"age": {**REAL, "bins": "many"}}}, "columns.age.bins", "a whole number"),
    ({"columns": {"age": {**REAL, "lower": "0"}}}, "columns.age.lower", "a number"),
    ({"columns": {"age": {**REAL, "edges": ["x"]}}}, "columns.age.edges", "a list of numbers"),
    ({"columns": {"age": {**REAL, "step": 0.9}}}, "columns.age.step", "left out where “bins”"),
    ({"columns": {"age": {**STEPS, "step": "x"}}}, "columns.age.step", "a number"),
    ({"columns": {"age": {**STEPS, "step": 0}}}, "columns.age.step", "a number above 0"),
    ({"columns": {"age": {**STEPS, "step": 2}}}, "columns.age.step", "such as 2.25"),
    ({"columns": {"age": {**STEPS, "upper": -1}}}, "columns.age", "exchange them"),
    ({"columns": {"age": {**DAYS, "lower": "x"}}}, "columns.age.lower", "a day such as"),
    ({"columns": {"age": {**DAYS, "step": "moon"}}}, "columns.age", "day, week, month"),
    ({"columns": {"age": {"kind": "poem"}}}, "columns.age.kind", "one of categorical"),
    ({"columns": {"age": {}}}, "columns.age.kind", "one of categorical"),
    ({"columns": {"age": None}}, "columns.age", "a list of values"),
    ({"columns": {"colour": ["red", "red"]}}, "columns.colour", "once"),
    ({"columns": {"colour": {"kind": "categorical"}}}, "columns.colour", "at least one value"),
    (
        {"columns": {"colour": {"kind": "categorical", "values": "red"}}},
        "columns.colour.values",
        "a list of texts",
    ),
    ({"columns": {"nope": ["a"]}}, "columns", "nope"),
    ({"unit": {"max_rows": "x"}}, "unit.max_rows", "a whole number"),
    ({"unit": {"unit_column": "nope"}}, "unit.unit_column", "nope"),
    ({"unit": {"what": 1}}, "unit.what", "Nothing here has this name"),
    ({"surprise": 1}, "surprise", "Nothing here has this name"),
]


@pytest.mark.parametrize(("said", "field", "remedy"), WRONG_FIELDS, ids=str)
def test_each_fault_of_a_declaration_names_its_field_and_what_to_do(program, dataset, said, field, remedy):
    answer = program.said("put", f"/datasets/{dataset.pk}/declaration", {"columns": {}, **said}, 422)
    assert list(answer["errors"]) == [field] and remedy in answer["errors"][field][0]


HISTOGRAM = {"columns": ["age"], "people": 300}
LAPLACE = {"mechanism": "laplace-histogram", "amount": "0.5"}
WRONG_PLANS = [
    ({"choices": {**HISTOGRAM, "people": "x"}}, "choices.people"),
    ({"choices": {**HISTOGRAM, "people": {"a": 1}}}, "choices.people"),
    ({"choices": {**HISTOGRAM, "columns": ["nope"]}}, "choices.columns"),
    ({"choices": {**HISTOGRAM, "poem": 1}}, "choices.poem"),
    ({"method": {**LAPLACE, "amount": "abc"}}, "method.amount"),
    ({"method": {**LAPLACE, "amount": 0.5}}, "method.amount"),
    ({"method": {"amount": "0.5"}}, "method.mechanism"),
    ({"method": {**LAPLACE, "parameters": {"x": 1}}}, "method.x"),
    ({"method": "x"}, "method"),
    ({"half_width": "x"}, "half_width"),
]


@pytest.mark.parametrize(("said", "field"), WRONG_PLANS, ids=str)
def test_each_fault_of_a_plan_names_its_field(program, dataset, said, field):
    base = {"product": "histogram", "choices": HISTOGRAM, "method": LAPLACE}
    answer = program.said("post", f"/datasets/{dataset.pk}/plans", {**base, **said}, 422)
    assert list(answer["errors"]) == [field], answer


def test_the_fit_is_looked_at_and_the_look_recorded(program, dataset):
    path = f"/datasets/{dataset.pk}/fit"
    assert program.said("post", path, status=202)["job"]["state"] == "queued"
    FITS.run(dataset.pk)
    assert program.said("get", path)["fit"]["rows"] == 300
    assert AuditEntry.objects.filter(action="viewed the fit").count() == 1


def test_a_budget_is_read_and_asked_for(program, draft):
    path = f"/datasets/{draft.dataset_id}/budgets"
    [budget] = program.said("get", path)["budgets"]
    assert (budget["granted"], budget["left"], budget["is_current"]) == ("1.00", "1.00", True)
    said = {"reason": "For the yearbook", "release": str(draft.pk)}
    assert program.said("post", f"{path}/ask", said, 202)["asked"]["state"] == "waiting"
    assert BudgetRequest.objects.get().title == "Colours by age"
    assert program.said("post", f"{path}/ask", {"reason": ""}, 422)["errors"]["reason"]


def test_a_plan_reads_nothing_and_keeps_nothing(program, dataset, monkeypatch):
    choices = {"columns": ["age"], "people": 300}
    said = {"product": "histogram", "choices": choices}
    offers = program.said("post", f"/datasets/{dataset.pk}/offers", {**said, "amount": "0.5"})
    errors = {offer["mechanism"]: offer["error"] for offer in offers["offers"]}
    method = {"mechanism": "laplace-histogram", "amount": "0.5"}
    plan = program.said("post", f"/datasets/{dataset.pk}/plans", {**said, "method": method})
    # Discrete Laplace of scale 2: P(|noise| > 6) <= 0.05 < P(|noise| > 5).
    assert plan["error"] == errors["laplace-histogram"] == 6
    wanted = program.said(
        "post",
        f"/datasets/{dataset.pk}/plans",
        {**said, "method": {"mechanism": "laplace-histogram"}, "half_width": 12},
    )
    assert wanted["error"] <= 12 and float(wanted["amount"]) < 0.5
    assert not Release.objects.exists()


def test_products_say_what_can_be_chosen(client, db):
    products = {product["name"]: product for product in client.get(f"{BASE}/products").json()}
    assert {"histogram", "summary", "selection"} <= set(products)
    assert {"columns", "people"} == {field["name"] for field in products["histogram"]["fields"]}


def test_records_are_erased_and_the_ledger_stays(program, dataset):
    assert program.said("delete", f"/datasets/{dataset.pk}/records")["state"] == "erased"
    assert program.said("get", f"/datasets/{dataset.pk}/budgets")["budgets"]
