"""Answers requests in a few threads; whoever sends or reads slowly holds none of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, BinaryIO, TypeVar, TypeVarTuple, cast

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import close_old_connections
from django.http import HttpResponse
from django.http.response import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from dpportal.platform import storage
from dpportal.serving import request_ids
from dpportal.serving.body_file import BodyFile
from dpportal.serving.in_flight import InFlight

# Pages are computed by Python in one process at a time, so more threads would only take turns more often. Each may
# hold one connection to the database.
THREADS = 8

# Requests of one process that are answered again and again until something happens, at most; more are answered at once.
# Each is answered some 1.4 times a second.
MOST_WAITING = 50
# What an answer is marked with whose request is to be answered again, after so many seconds; see `long_polling`.
AGAIN_IN = "again_in"

# ASGI's words for what is known of a connection, and for what is sent over it.
AsgiScope = MutableMapping[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class PortalHandler(ASGIHandler):
    """Django's own, but the middleware and the view run as plain functions in one of THREADS threads.

    Django would start a thread for each request, whatever their number, and stop its event loop until the view of a
    visitor who has gone comes to an end. Here the body is complete before a thread begins, and what is sent is sent
    after it ended.
    """

    # Requests that wait to be answered again; counted by the event loop alone.
    waiting = 0

    def __init__(self) -> None:
        self.load_middleware(is_async=False)
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self.in_flight = InFlight()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body, self.in_flight.one():
            response = await self.run(self._respond, scope, body)
            while (pause := getattr(response, AGAIN_IN, 0)) and self.waiting < MOST_WAITING:
                await self._pause(pause)
                response = await self.run(self._respond, scope, body)
        if scope.get("method") == "HEAD":
            _drop_content(response)
        await self._send(response, send)

    async def _pause(self, seconds: float) -> None:
        self.waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self.waiting -= 1

    async def read_body(self, receive: Receive) -> BinaryIO:
        """The whole body. Raises RequestAborted where its sender has gone, StorageFault where the disk fails."""
        body = BodyFile()
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestAborted
                with storage.on_disk():
                    body.write(message.get("body", b""))
                    if not message.get("more_body", False):
                        return body.opened()
        except BaseException:
            body.discard()
            raise

    async def run(self, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Call it in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, function, *arguments)

    def _respond(self, scope: AsgiScope, body: IO[bytes]) -> HttpResponseBase:
        """The whole answer, or for a file its head; no connection to the database stays open."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        try:
            response = self.get_response(request) if request else refusal
        finally:
            request_ids.forget()
        assert response is not None
        if response.streaming:
            close_old_connections()
        else:
            response.close()
        return response

    async def _send(self, response: HttpResponseBase, send: Send) -> None:
        if not isinstance(response, StreamingHttpResponse):
            await self.send_response(response, send)
            return
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        content = cast(Iterator[bytes], response.streaming_content)
        response.streaming_content = self._parts(content)
        try:
            await self.send_response(response, send)
        finally:
            await self.run(response.close)

    async def _parts(self, content: Iterator[bytes]) -> AsyncIterator[bytes]:
        """What a file's iterator gives, each part read when the one before is sent."""
        while part := await self.run(next, content, b""):
            yield part


def _drop_content(response: HttpResponseBase) -> None:
    """Leave the headers alone: a server would read and drop what it must not send."""
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = iter(())
    elif isinstance(response, HttpResponse):
        response.content = b""
