"""How slowly a body may come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dpportal.serving import admission
from dpportal.serving.admission import FILES_AT_ONCE, VISITOR_SECONDS, VISITORS, VISITORS_AT_ONCE, _allowed
from dpportal.serving.handler import PortalHandler
from dpportal.serving.request_body import Body, BodyRefusedError


async def trickle() -> dict[str, Any]:
    """A thousand bytes, a hundred times a second: quick enough for a body without a last moment."""
    await asyncio.sleep(0.01)
    return {"type": "http.request", "body": b"x" * 1000, "more_body": True}


async def received(most_seconds: float) -> tuple[int, int]:
    """How much comes before it is refused, and with which status."""
    body = Body(trickle, 2**30, most_seconds)
    while True:
        try:
            await body()
        except BodyRefusedError as refusal:
            return body.received, refusal.status


def test_a_body_that_has_a_last_moment_ends_then_however_quickly_it_comes() -> None:
    some, status = asyncio.run(received(0.2))
    assert status == 408 and 0 < some <= 20_000


@pytest.mark.django_db
def test_a_strangers_file_for_the_check_has_one() -> None:
    scope = {"type": "http", "method": "POST", "path": "/check/", "headers": [], "query_string": b""}
    assert _allowed(scope, 2**20, 0).most_seconds == VISITOR_SECONDS


@pytest.mark.parametrize(("person", "places"), [(7, FILES_AT_ONCE), (VISITORS, VISITORS_AT_ONCE)])
def test_a_file_for_which_there_is_no_place_is_told_when_to_come_again(monkeypatch, person, places) -> None:
    """The answer itself, as a program gets it."""
    door = admission.AdmissionControl(PortalHandler())
    door.receiving[person] = places
    monkeypatch.setattr(admission, "_allowed", lambda *_: admission.Allowance(2**30, person, 2**20))
    monkeypatch.setattr(admission, "LINGERING_SECONDS", 0)
    headers = [(b"content-length", b"1000000")]
    scope = {"type": "http", "method": "PATCH", "path": "/api/v1/uploads/1", "headers": headers}
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(door({**scope, "query_string": b""}, trickle, send))
    answered = dict(sent[0]["headers"])
    assert sent[0]["status"] == 429 and answered[b"content-type"] == b"application/problem+json"
    assert int(answered[b"retry-after"]) > 0
