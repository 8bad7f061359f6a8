"""The door before Django: a body is read only as far as its sender may send, and a sender cannot hold up others."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from io import BytesIO

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _, override

from dpportal.accounts.languages import named_language
from dpportal.accounts.models import User
from dpportal.platform.problem_details import MEDIA_TYPE, problem_facts
from dpportal.platform.storage import StorageFault
from dpportal.platform.stored_texts import translated
from dpportal.serving import early_refusals
from dpportal.serving.early_refusals import Answer
from dpportal.serving.handler import AsgiScope, Message, PortalHandler, Receive, Send
from dpportal.serving.programs import PROGRAMS
from dpportal.serving.request_body import (
    ANYONE_BYTES,
    Body,
    BodyRefusedError,
    disk_fails,
    length,
    require_space,
    too_large,
)
from dpportal.serving.small_ids import with_small_ids

# A person's files that come in at the same time, in one process.
FILES_AT_ONCE = 2
# Whose places visitors share who send a file without signing in, how many these are, and how long one may take: who
# sends slowly keeps no place for hours.
VISITORS, VISITORS_AT_ONCE, VISITOR_SECONDS = 0, 8, 180.0
# A visitor who takes nothing of an answer for so long has gone.
UNREAD_SECONDS = 60.0
# What a refused sender sends meanwhile is read and dropped for so long: a connection that is closed at once would take
# the answer with it.
LINGERING_SECONDS = 3.0
# What a form with files holds besides them.
FORM_BYTES = 2**20
YOURS_ARRIVE = "Other files of yours are still being received. Wait until they have arrived."
OTHERS_ARRIVE = "Files of other visitors are still being received. Try again in a minute."
# A piece of an upload takes seconds; of visitors many wait for the same places.
RETRY_SECONDS, VISITORS_RETRY_SECONDS = 10, 60


@dataclass(frozen=True)
class Allowance:
    """How many bytes a request may bring, in which time; if files, for whose account, and how many it announced."""

    most_bytes: int = ANYONE_BYTES
    person: int | None = None
    promised: int = 0
    most_seconds: float = math.inf


class AdmissionControl:
    """Lets requests through to the handler."""

    def __init__(self, handler: PortalHandler) -> None:
        self.handler = handler
        self.receiving: Counter[int] = Counter()
        # Bytes of files that were announced and may still have to be written, in this process.
        self.promised = 0

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # WebSocket, of which the portal has none
            await send({"type": "websocket.close"})
            return
        sender = _Sender(send)
        try:
            allowance = await self._allowance(scope)
            async with self._one_of_few(allowance):
                await self.handler(scope, Body(receive, allowance.most_bytes, allowance.most_seconds), sender)
        except BodyRefusedError as refusal:
            await _end(scope, refusal, receive, sender)
        except StorageFault as fault:
            await _end(scope, disk_fails(fault), receive, sender)
        except _UnreadError:
            return

    async def _allowance(self, scope: AsgiScope) -> Allowance:
        """What this request may bring. The sender is looked up only for a large one. Raises RefusedError."""
        announced = length(scope)
        if announced is not None and announced <= ANYONE_BYTES:
            return Allowance()
        allowance = await self.handler.run(_allowed, scope, announced or 0, self.promised)
        if announced is not None and announced > allowance.most_bytes:
            raise BodyRefusedError(413, too_large(allowance.most_bytes))
        return allowance

    @asynccontextmanager
    async def _one_of_few(self, allowance: Allowance) -> AsyncIterator[None]:
        """Hold one of the person's places for files. Raises RefusedError if there is none."""
        person = allowance.person
        if person is None:
            yield
            return
        if self.receiving[person] >= (VISITORS_AT_ONCE if person == VISITORS else FILES_AT_ONCE):
            raise _too_many(person)
        self.receiving[person] += 1
        self.promised += allowance.promised
        try:
            yield
        finally:
            self.receiving[person] -= 1
            self.promised -= allowance.promised


def _too_many(person: int) -> BodyRefusedError:
    """The refusal of a file for which there is no place now."""
    is_visitor = person == VISITORS
    text, wait = (OTHERS_ARRIVE, VISITORS_RETRY_SECONDS) if is_visitor else (YOURS_ARRIVE, RETRY_SECONDS)
    return BodyRefusedError(429, text, {"Retry-After": str(wait)})


def _allowed(scope: AsgiScope, announced: int, promised: int) -> Allowance:
    """The allowance of the session's user at this address. Raises RefusedError where the disk has no space for it.

    promised: what other requests of this process announced.
    """
    try:
        request = ASGIRequest(scope, BytesIO())
        SessionMiddleware(lambda _request: HttpResponse()).process_request(request)
        user: object = get_user(request)
        match = resolve(with_small_ids(request.path_info))
        known_sender: Callable[..., int] | None = getattr(match.func, "known_sender", None)
        if known_sender is not None:
            return Allowance(max(ANYONE_BYTES, known_sender(request, **match.kwargs)))
        person_of: Callable[[HttpRequest], object] | None = getattr(match.func, "person_of", None)
        if person_of is not None:  # programs have no session
            user = person_of(request)
    except (Resolver404, UnicodeDecodeError):  # the handler says so
        return Allowance()
    finally:
        close_old_connections()
    from_anyone: int | None = getattr(match.func, "takes_files_from_anyone", None)
    if from_anyone is not None:
        require_space(2 * (announced + promised))
        return Allowance(from_anyone + FORM_BYTES, VISITORS, announced, VISITOR_SECONDS)
    if not isinstance(user, User):
        return Allowance()
    taken: Callable[[], int] | None = getattr(match.func, "takes_files", None)
    if taken is None or not user.is_curator:
        return Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    # Twice: as files come in, and as they are stored.
    require_space(2 * (announced + promised))
    return Allowance(taken() + FORM_BYTES, user.pk, announced)


async def _end(scope: AsgiScope, refusal: BodyRefusedError, receive: Receive, send: _Sender) -> None:
    """Say why, and give the sender time to hear it."""
    with suppress(_UnreadError):
        await _refuse(scope, refusal, send)
        await _read_off(receive)


class _UnreadError(Exception):
    """The answer is not taken."""


class _Sender:
    """Sends on, as long as somebody reads."""

    def __init__(self, send: Send) -> None:
        self.send = send

    async def __call__(self, message: Message) -> None:
        try:
            async with asyncio.timeout(UNREAD_SECONDS):
                await self.send(message)
        except (TimeoutError, OSError):
            raise _UnreadError from None


async def _refuse(scope: AsgiScope, refusal: BodyRefusedError, send: _Sender) -> None:
    # In a thread: the first translation of a process takes a while, and others are answered meanwhile.
    media_type, body = await asyncio.to_thread(_answer, ASGIRequest(scope, BytesIO()), refusal)
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *((name.lower().encode(), value.encode()) for name, value in refusal.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _answer(request: HttpRequest, refusal: BodyRefusedError) -> Answer:
    """A sentence in the language that a program, or the upload's script for its field, names; for people in each."""
    with override(named_language(request)):
        sentence = translated(refusal)
        if request.path.startswith(PROGRAMS):
            facts = problem_facts(refusal.status, sentence)
            return Answer(MEDIA_TYPE, json.dumps({**facts, "title": _(facts["title"])}).encode())
        if request.headers.get("Accept", "").startswith("application/json"):
            return Answer("application/json", json.dumps({"errors": {"file": [sentence]}}).encode())
    return early_refusals.page(lambda: translated(refusal))


async def _read_off(receive: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGERING_SECONDS):
            while (await receive()).get("more_body"):
                continue
