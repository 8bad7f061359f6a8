"""A running count by a program: drafted, opened, fed at its own address, published, closed."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import transaction
from ninja.errors import AuthenticationError

from dpportal.api import tokens
from dpportal.streams import services as stream_services
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import Stream, StreamJob, Token
from tests.dpportal.api.calling import Program
from tests.dpportal.streams import building

SAID = {
    "name": "Newcomers",
    "mode": "every",
    "step": "next",
    "horizon": 12,
    "expected": 5000,
    "amount": "0.5",
}


def test_a_running_count_from_draft_to_its_end(program, dataset):
    key = str(uuid4())
    draft = program.said("post", "/streams", {"dataset": str(dataset.pk), **SAID}, 201, Idempotency_Key=key)
    assert (
        program.said("post", "/streams", {"dataset": str(dataset.pk), **SAID}, 200, Idempotency_Key=key)
        == draft
    )
    assert draft["half_width"] > 0 and draft["mechanism"]
    spend, path = {"reviewed": draft["reviewed"], "agreed": True}, f"/streams/{draft['id']}"
    assert program.said("post", f"{path}/open", spend, 202)["state"] == "opening"
    STREAM_JOBS.run(StreamJob.objects.get().pk)
    assert program.said("get", path)["state"] == "open"
    token = program.said("post", f"{path}/token", status=201)["token"]
    sent = program.client.post(
        f"/streams/{draft['id']}/periods",
        {"period": 1, "counts": 40},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert sent.status_code == 201
    assert program.said("post", f"{path}/publish", {"all_the_same": True})["is_public"]
    assert program.client.get(f"/api/v1/catalogue/{draft['id']}").json()["kind"] == "stream"
    assert program.said("post", f"{path}/close")["state"] == "closed"
    assert not program.said("post", f"{path}/withdraw", {"because": "Over."})["is_public"]


def test_a_draft_of_a_running_count_is_copied_and_deleted(program, dataset):
    draft = program.said("post", "/streams", {"dataset": str(dataset.pk), **SAID}, 201)
    copy = program.said("post", f"/streams/{draft['id']}/again", status=201)
    assert copy["name"] == draft["name"] and copy["id"] != draft["id"]
    program.said("delete", f"/streams/{copy['id']}", status=204)
    program.said("get", f"/streams/{copy['id']}", status=404)


def test_a_draft_that_was_begun_in_a_browser_is_shown_without_a_plan(program, dataset):
    draft = Stream.objects.create(dataset=dataset, created_by=dataset.owner, name="Newcomers")
    shown = program.said("get", f"/streams/{draft.pk}")
    assert (shown["state"], shown["reviewed"], shown["amount"]) == ("draft", None, None)


def test_running_counts_are_listed_for_whoever_may_release(program, stranger, dataset):
    draft = program.said("post", "/streams", {"dataset": str(dataset.pk), **SAID}, 201)
    page = program.said("get", f"/streams?dataset={dataset.pk}")
    assert [(row["id"], row["state"]) for row in page["items"]] == [(draft["id"], "draft")]
    assert (page["count"], page["next"]) == (1, None)
    assert stranger.said("get", "/streams")["items"] == []


def sends(program, stream: Stream, token: str, period: int) -> int:
    """The status that a period is answered with."""
    said, header = {"period": period, "counts": 40}, {"Authorization": f"Bearer {token}"}
    path = f"/streams/{stream.pk}/periods"
    return program.client.post(path, said, content_type="application/json", headers=header).status_code


def test_what_opens_a_running_count_ends_with_the_token_that_asked_for_it(program, dataset):
    """Its person revokes the one that was stolen, and what the thief had made with it opens nothing either."""
    stream = building.open_stream(dataset)
    of_the_curator = stream_services.renew_token(stream, dataset.owner)
    tokens.revoke(Program(dataset.owner).token, dataset.owner)
    assert sends(program, stream, of_the_curator, 1) == 201
    of_a_program = program.said("post", f"/streams/{stream.pk}/token", status=201)["token"]
    assert Token.objects.get().expires_at == program.token.expires_at
    assert sends(program, stream, of_a_program, 2) == 201
    assert tokens.revoke(program.token, dataset.owner)
    assert sends(program, stream, of_a_program, 3) == 403


def test_a_token_that_was_revoked_meanwhile_asks_for_none_and_spends_nothing(program, dataset):
    let_in = program.again()
    tokens.revoke(let_in, dataset.owner)
    with pytest.raises(AuthenticationError), transaction.atomic():
        tokens.locked_token(let_in)
