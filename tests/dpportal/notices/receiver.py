"""A real receiver of webhooks, in a thread of the test's own process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook as Verifier


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> Any:
        """What it says, if its signature is good by the library of Standard Webhooks itself."""
        Verifier(secret).verify(self.body, self.headers)
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers with the statuses in turn, the last one for ever. held: answers wait until it is set."""

    port: int = 0
    statuses: list[int] = field(default_factory=lambda: [204])
    received: list[Received] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    free: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://hooks.example:{self.port}/portal?who=me"

    def take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in request.headers.items()}
        status = self.statuses[min(len(self.received), len(self.statuses) - 1)]
        self.received.append(Received(request.path, headers, body))
        self.arrived.release()
        self.free.wait(30)
        request.send_response(status)
        request.send_header("Location", f"http://hooks.example:{self.port}/elsewhere")
        request.end_headers()


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver at a free port of 127.0.0.1."""
    receiver = Receiver()
    receiver.free.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        def log_message(self, *_args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield receiver
        receiver.free.set()
        server.shutdown()
        thread.join()
