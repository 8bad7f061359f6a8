"""A release by a program: drafted, planned, paid for, compared, published, withdrawn; sent twice, done once."""

from __future__ import annotations

from uuid import uuid4

import pytest

from dpportal.api import spending
from dpportal.budgets.models import LedgerEntry
from dpportal.publications import idempotency_keys
from dpportal.releases import execution
from dpportal.releases.models import Release
from tests.dpportal import building
from tests.dpportal.api.calling import Program

CHOICES = {"columns": ["colour", "age"], "people": 300}
METHOD = {"mechanism": "laplace-histogram", "amount": "0.1"}


def said(dataset, **more):
    return {"dataset": str(dataset.pk), "product": "histogram", "choices": CHOICES, "method": METHOD, **more}


def confirmed(program, dataset, **headers):
    """A release that was paid for, and the answers on the way."""
    draft = program.said("post", "/releases", said(dataset), status=201)
    plan = program.said("get", f"/releases/{draft['id']}/plan")
    spend = {"reviewed": plan["reviewed"], "agreed": True}
    return draft, plan, program.said("post", f"/releases/{draft['id']}/spend", spend, 202, **headers)


def test_a_release_from_draft_to_withdrawal(program, dataset):
    draft, plan, spent = confirmed(program, dataset)
    assert (draft["state"], spent["state"], spent["job"]["state"]) == ("draft", "requested", "queued")
    assert "± " in plan["margin"] and plan["left"] == "1.00" and plan["counted_in"] == "ε"
    execution.RELEASES.run(draft["id"])
    ready = program.said("get", f"/releases/{draft['id']}")
    assert ready["state"] == "ready" and {"histogram.csv"} <= {file["name"] for file in ready["files"]}
    comparison = program.said("get", f"/releases/{draft['id']}/comparison")
    assert len(comparison["table"]) >= 30
    address = f"/catalogue/{draft['id']}"
    assert program.client.get(f"/api/v1{address}").status_code == 404
    assert program.said("post", f"/releases/{draft['id']}/publish", {"all_the_same": True})["is_public"]
    public = program.client.get(f"/api/v1{address}").json()
    assert public["loss"] == "ε = 0.10" and public["title"] == draft["title"]
    assert [entry["id"] for entry in program.client.get("/api/v1/catalogue").json()["items"]] == [draft["id"]]
    program.said("post", f"/releases/{draft['id']}/withdraw", {"because": "A mistake."})
    assert program.client.get(f"/api/v1{address}").json()["detail"].endswith("A mistake.")
    # A program that runs every night does not undo what somebody has withdrawn.
    refused = program.said("post", f"/releases/{draft['id']}/publish", {"all_the_same": True}, 409)
    assert "This was withdrawn on" in refused["errors"]["again"][0]
    assert program.client.get(f"/api/v1{address}").json()["detail"].endswith("A mistake.")
    again = {"all_the_same": True, "again": True}
    assert program.said("post", f"/releases/{draft['id']}/publish", again)["is_public"]


def test_the_same_keys_do_nothing_twice(program, dataset):
    draft_key, spend_key = str(uuid4()), str(uuid4())
    first = program.said("post", "/releases", said(dataset), 201, Idempotency_Key=draft_key)
    assert (
        program.said("post", "/releases", said(dataset), 200, Idempotency_Key=draft_key)["id"] == first["id"]
    )
    plan = program.said("get", f"/releases/{first['id']}/plan")
    spend, path = {"reviewed": plan["reviewed"], "agreed": True}, f"/releases/{first['id']}/spend"
    program.said("post", path, spend, 202, Idempotency_Key=spend_key)
    program.said("post", path, spend, 200, Idempotency_Key=spend_key)
    assert Release.objects.count() == 1
    assert LedgerEntry.objects.filter(kind=LedgerEntry.Kind.CHARGE).count() == 1
    other = program.said("post", "/releases", said(dataset), 422, Idempotency_Key=spend_key)
    assert "new key" in other["detail"]


def test_a_key_with_another_content_is_refused_and_does_nothing(program, stranger, dataset):
    draft_key, spend_key = str(uuid4()), str(uuid4())
    first = program.said("post", "/releases", said(dataset), 201, Idempotency_Key=draft_key)
    refused = program.said("post", "/releases", said(dataset, title="Other"), 422, Idempotency_Key=draft_key)
    assert (refused["title"], refused["status"]) == ("Unprocessable Entity", 422)
    assert "as it was" in refused["detail"] and Release.objects.count() == 1
    plan = program.said("get", f"/releases/{first['id']}/plan")
    spend, path = {"reviewed": plan["reviewed"], "agreed": True}, f"/releases/{first['id']}/spend"
    program.said("post", path, spend, 202, Idempotency_Key=spend_key)
    program.said("post", path, {**spend, "one_row": True}, 422, Idempotency_Key=spend_key)
    # As it is left out; and which plan was read is not asked for.
    for same in ({"one_row": False}, {"reviewed": "of a later plan"}, {"agreed": False}):
        program.said("post", path, {**spend, **same}, 200, Idempotency_Key=spend_key)
    # Another person's key of the same text is another key.
    stranger.said("post", "/releases", said(dataset, title="Other"), 404, Idempotency_Key=draft_key)


def test_what_is_kept_of_a_request_is_keyed_and_no_one_elses(program, dataset, settings):
    content = {"a": 1}
    kept = idempotency_keys.content_digest("api 1", "release", content)
    assert kept != idempotency_keys.content_digest("api 2", "release", content)
    assert kept != idempotency_keys.content_digest("api 1", "stream", content)
    settings.FINGERPRINT_KEY = "another"
    assert kept != idempotency_keys.content_digest("api 1", "release", content)


def test_a_token_spends_no_more_than_its_limit(curator, dataset):
    program = Program(curator, limit="0.15")
    confirmed(program, dataset)
    draft = program.said("post", "/releases", said(dataset), 201)
    plan = program.said("get", f"/releases/{draft['id']}/plan")
    refused = program.said(
        "post", f"/releases/{draft['id']}/spend", {"reviewed": plan["reviewed"], "agreed": True}, 403
    )
    assert "may still spend 0.05" in refused["detail"]
    assert Release.objects.get(pk=draft["id"]).is_draft
    assert str(spending.spent_by(program.token)) == "0.100000"


def test_what_is_given_back_can_be_spent_again(program, dataset):
    draft, _plan, _spent = confirmed(program, dataset)
    assert program.said("post", f"/releases/{draft['id']}/cancel")["state"] == "cancelled"
    assert spending.spent_by(program.token) == 0 and building.left(dataset) == 1


def test_what_is_public_is_published_again_with_the_same_doi_alone(program, ready):
    path, doi = f"/releases/{ready.pk}", "10.5281/zenodo.7"
    first = {"all_the_same": True, "doi": f"https://doi.org/{doi}"}
    for said in (first, {"all_the_same": True}, {"doi": doi}):
        assert program.said("post", f"{path}/publish", said)["is_public"]
        assert Release.objects.get(pk=ready.pk).doi == doi
    other = program.send("post", f"{path}/publish", {"doi": "10.5281/zenodo.8"})
    assert (other.status_code, other["Content-Type"]) == (409, "application/problem+json")
    assert "/details" in other.json()["detail"] and Release.objects.get(pk=ready.pk).doi == doi
    program.said("post", f"{path}/publish", {"doi": ""}, 409)
    program.said("patch", f"{path}/details", {"doi": "10.5281/zenodo.8"})
    assert program.client.get(f"/api/v1/catalogue/{ready.pk}").json()["doi"] == "10.5281/zenodo.8"
    program.said("patch", f"{path}/details", {"doi": None})
    assert Release.objects.get(pk=ready.pk).doi == ""


@pytest.mark.parametrize(
    ("said_wrong", "field"),
    [
        ({"choices": {**CHOICES, "columns": ["height"]}}, "choices.columns"),
        ({"choices": {"columns": []}}, "choices.columns"),
        ({"method": {**METHOD, "mechanism": "guess"}}, "method.mechanism"),
        ({"method": {**METHOD, "amount": "-1"}}, "method.amount"),
        ({"product": "poem"}, "product"),
        ({"product": "means", "choices": {"columns": ["age"] * 50, "people": 1000}}, "choices.columns"),
    ],
)
def test_a_wrong_choice_is_named(program, dataset, said_wrong, field):
    answer = program.said("post", "/releases", said(dataset, **said_wrong), 422)
    assert answer["status"] == 422 and field in answer["errors"]
    assert not Release.objects.exists()
