"""Whoever waits for a job holds no thread: thirty wait on two threads, and another request is answered at once."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import IO, Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from dpportal.serving import long_polling
from dpportal.serving.handler import AsgiScope, PortalHandler
from dpportal.serving.in_flight import InFlight

WAITING, THREADS = 30, 2
ENDS_AFTER = 1.0


class Waiting(PortalHandler):
    """Answers "ended" a while after it was made; who asks to wait is answered only then."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS)
        self.in_flight = InFlight()
        self.begun = time.monotonic()
        self.asked = 0

    def _respond(self, scope: AsgiScope, body: IO[bytes]) -> HttpResponse:
        self.asked += 1
        request = ASGIRequest(scope, BytesIO())
        has_ended = time.monotonic() - self.begun > ENDS_AFTER
        response = HttpResponse("ended" if has_ended else "not yet")
        if request.path == "/job" and not has_ended:
            long_polling.wait(request, response, float(request.GET["wait"]))
        return response


async def ask(handler: PortalHandler, path: str, query: str = "") -> str:
    """What is answered."""
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": query.encode()}
    said = b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        nonlocal said
        said += message.get("body", b"")

    await handler(scope, receive, send)
    return said.decode()


async def crowd() -> tuple[str, float, list[str]]:
    """What a passer-by is told while the others wait, after how long, and what these are told."""
    handler = Waiting()
    others = [asyncio.create_task(ask(handler, "/job", "wait=20")) for _ in range(WAITING)]
    await asyncio.sleep(0.3)
    begun = time.monotonic()
    told = await ask(handler, "/other")
    return told, time.monotonic() - begun, await asyncio.gather(*others)


@pytest.mark.slow
def test_those_who_wait_hold_no_thread() -> None:
    told, seconds, others = asyncio.run(crowd())
    assert told == "not yet" and seconds < 0.5
    assert others == ["ended"] * WAITING


def test_an_answer_comes_when_the_time_is_over() -> None:
    handler = Waiting()
    handler.begun += 60
    assert asyncio.run(ask(handler, "/job", "wait=0.01")) == "not yet"
    assert 1 <= handler.asked <= 3


@pytest.mark.slow
def test_of_a_crowd_that_waits_so_many_do_and_the_others_are_answered_at_once(monkeypatch) -> None:
    monkeypatch.setattr("dpportal.serving.handler.MOST_WAITING", 5)
    _told, _seconds, others = asyncio.run(crowd())
    assert others.count("not yet") == WAITING - 5 and others.count("ended") == 5
