"""Requests to a portal: JSON in and out, sent again where the portal asks for that."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx

from .faults import PortalError

API = "/api/v1"
# A request waits so long for its answer; uploads take as long as they take.
ANSWER_SECONDS = 60.0
# Of one question about a job, which the portal answers when the job has ended, or after so long.
POLL_SECONDS = 20.0
# Reading a large table takes minutes, and a job may wait for others.
PATIENCE_SECONDS = 3600.0
MOST_TRIES = 60
T = TypeVar("T")
# What the portal says of a thing, as its JSON has it.
Facts = dict[str, Any]


class Connection:
    """A portal at an address, and who asks it. token: None for a stranger. language: of what is refused."""

    def __init__(
        self,
        address: str,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        language: str = "en",
    ) -> None:
        headers = {"Accept-Language": language, **({"Authorization": f"Bearer {token}"} if token else {})}
        timeout = httpx.Timeout(ANSWER_SECONDS, write=None)
        self.address = address.rstrip("/")
        self._http = httpx.Client(
            base_url=self.address, headers=headers, timeout=timeout, transport=transport
        )

    def close(self) -> None:
        """Close the connections that are open."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        **query: object,
    ) -> Any:
        """What the API answers, None where that is nothing. Raises PortalError.

        key: a random UUID, with which the same request is done once.
        """
        options: dict[str, Any] = {"params": {n: str(v) for n, v in query.items() if v is not None}}
        if payload is not None:
            options["json"] = payload
        answer = self.send(method, API + path, key=key, **options)
        return answer.json() if answer.content else None

    def send(
        self,
        method: str,
        address: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Send a request, again where the portal says after how many seconds. Raises PortalError."""
        headers = {**(headers or {}), **({"Idempotency-Key": f'"{key}"'} if key else {})}
        for _ in range(MOST_TRIES):
            answer = self._http.request(method, address, headers=headers, **options)
            if answer.is_success:
                return answer
            pause = answer.headers.get("Retry-After", "")
            if not pause.isdecimal():
                break
            time.sleep(float(pause))
        raise _fault(answer)

    def until(self, ask: Callable[[], T], has_ended: Callable[[T], bool], seconds: float) -> T:
        """Ask until something has ended, also while the portal starts anew: `ask` only reads.

        Raises PortalError after so many seconds, or httpx.TransportError where the portal is gone by then.
        """
        end = time.monotonic() + seconds
        while True:
            is_over = time.monotonic() > end
            try:
                if has_ended(answer := ask()):
                    return answer
            except httpx.TransportError:
                if is_over:
                    raise
            if is_over:
                raise PortalError(0, f"This has not ended within {seconds:g} seconds. Ask again later.")
            time.sleep(0.2)


def _fault(answer: httpx.Response) -> PortalError:
    """What the portal says is wrong."""
    try:
        facts = answer.json()
    except ValueError:
        facts = None
    problem = facts if isinstance(facts, dict) else {}
    # Addresses of running counts' periods are older than RFC 9457's names.
    detail = str(problem.get("detail") or problem.get("error") or answer.reason_phrase)
    return PortalError(answer.status_code, detail, problem.get("errors"), str(problem.get("page", "")))
