"""A process of the web server: Gunicorn's, which moreover ends connections that never say what they want."""

from __future__ import annotations

import ctypes
import resource
from asyncio import Transport
from contextlib import suppress

from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

# A connection has so long to send the head of its first request. Between later ones Gunicorn's keepalive counts.
HEAD_SECONDS = 10.0
# After connections ended, what they took of memory is given back, at most so often.
TIDY_SECONDS = 15.0


class Protocol(ASGIProtocol):  # type: ignore[misc]
    """One connection."""

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        if self.worker.nr_conns > self.cfg.worker_connections:
            transport.abort()
        else:
            self.worker.loop.call_later(HEAD_SECONDS, self._end_if_silent, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.worker.tidy_later()

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
