"""A process of the web server: Gunicorn's, which moreover ends connections that never say what they want.

What it cannot read it refuses in words, to a program as problem details.
"""

from __future__ import annotations

import ctypes
import resource
from asyncio import Transport
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus

from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from dpportal.serving import early_refusals

HttpHeaders = Iterable[tuple[str, str]]

# A connection has so long to send the head of its first request. Between later ones Gunicorn's keepalive counts.
HEAD_SECONDS = 10.0
# After connections ended, what they took of memory is given back, at most so often.
TIDY_SECONDS = 15.0


class Protocol(ASGIProtocol):  # type: ignore[misc]
    """One connection. path: how that of the newest request begins."""

    path = ""

    def data_received(self, data: bytes) -> None:
        self.path = early_refusals.path_of(data) or self.path
        super().data_received(data)

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        if self.worker.nr_conns > self.cfg.worker_connections:
            transport.abort()
        else:
            self.worker.loop.call_later(HEAD_SECONDS, self._end_if_silent, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.worker.tidy_later()

    def _send_error_response(self, status: int, _message: str, extra_headers: HttpHeaders = ()) -> None:
        """Instead of Gunicorn's plain text, which may repeat what was sent."""
        answer = early_refusals.answer(status, self.path)
        headers = {
            "Content-Type": answer.media_type,
            "Content-Length": str(len(answer.body)),
            "X-Content-Type-Options": "nosniff",
            **dict(extra_headers),
            "Connection": "close",
        }
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{n}: {v}" for n, v in headers.items())]
        self._safe_write("\r\n".join([*head, "", ""]).encode("latin-1") + answer.body)

    def _end_if_silent(self, transport: Transport) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            transport.abort()


# Gunicorn has no setting for the class of its connections.
gasgi.ASGIProtocol = Protocol


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    """One process."""

    tidying = False

    def init_process(self) -> None:
        """Each connection is an open file; as many as the system allows."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        super().init_process()

    def tidy_later(self) -> None:
        """Tidy soon, once for all connections that end meanwhile."""
        if not self.tidying:
            self.tidying = True
            self.loop.call_later(TIDY_SECONDS, self._tidy)

    def _tidy(self) -> None:
        """The C library keeps what hundreds of connections took, unless it is told to give it back."""
        self.tidying = False
        with suppress(AttributeError):  # another C library than GNU's
            ctypes.CDLL(None).malloc_trim(0)
