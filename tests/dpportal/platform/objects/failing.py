"""An S3 server in the test's own process that does what it is told to do wrong. Signatures are not looked at."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

NAME = "portal"
# What a server says, as (status, code).
FORBIDS, IS_FULL, HAS_A_FULL_DISK, IS_BUSY = (
    (403, "AccessDenied"),
    (507, "InsufficientStorage"),
    (500, "InternalError"),
    (503, "SlowDown"),
)
# What else it does: ends the connection without an answer or in the midst of one, is silent, sends a byte now and then,
# or takes one.
GONE, CUT, SILENT, TRICKLES = "gone", "cut", "silent", "trickles"


# What it takes of a file at a time while it trickles, and how long it waits then.
TAKEN_BYTES, TAKING_SECONDS = 2**16, 0.05


@dataclass
class Fault:
    """What happens to requests of a method whose key holds a text; `times` of them, after the first `spared`."""

    method: str
    key: str
    what: Any
    times: int = 10**9
    spared: int = 0

    def strikes(self, method: str, key: str) -> bool:
        if method not in self.method.split() or self.key not in key or not self.times:
            return False
        if self.spared:
            self.spared -= 1
            return False
        self.times -= 1
        return True


@dataclass
class FailingServer:
    """files: what is stored, by key. asked: each request, as its method and key."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "bucket_name": NAME,
            "endpoint_url": self.address,
            "access_key": "portal-key",
            "secret_key": "secret-of-the-portal",
            "region_name": "us-east-1",
            "addressing_style": "path",
        }

    def fails(self, method: str, key: str, what: Any, **how: int) -> None:
        self.faults.append(Fault(method, key, what, **how))

    def heal(self) -> None:
        self.faults.clear()

    def what_happens(self, method: str, key: str) -> Any:
        with self.lock:
            self.asked.append((method, key))
            return next((fault.what for fault in self.faults if fault.strikes(method, key)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: FailingServer

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""

    def _answer(self) -> None:
        split = urlsplit(self.path)
        key = unquote(split.path).removeprefix(f"/{NAME}").lstrip("/")
        what = self.bucket.what_happens(self.command, key)
        if what == GONE:
            self.close_connection = True
            return
        body = self._body(slowly=what == TRICKLES)
        if what == SILENT:
            self.bucket.ended.wait(60)
            self.close_connection = True
        elif isinstance(what, tuple):
            status, code = what
            text = f"<Error><Code>{code}</Code><Message>m</Message></Error>"
            self._send(status, text.encode() if self.command != "HEAD" else b"")
        elif not key:
            self._list(parse_qs(split.query))
        else:
            getattr(self, f"_{self.command.lower()}")(key, body, what)

    do_GET = do_PUT = do_HEAD = do_DELETE = _answer  # noqa: N815 the names of the class above

    def _body(self, *, slowly: bool) -> bytes:
        missing = int(self.headers.get("Content-Length", 0))
        if not slowly:
            return self.rfile.read(missing)
        body = b""
        while len(body) < missing and not self.bucket.ended.wait(TAKING_SECONDS):
            body += self.rfile.read(min(TAKEN_BYTES, missing - len(body)))
        return body

    def _put(self, key: str, body: bytes, _what: Any) -> None:
        self.bucket.files[key] = body
        self._send(200, b"", ETag='"x"')

    def _delete(self, key: str, _body: bytes, _what: Any) -> None:
        self.bucket.files.pop(key, None)
        self._send(204, b"")

    def _head(self, key: str, _body: bytes, _what: Any) -> None:
        known = self.bucket.files.get(key)
        self._send(404 if known is None else 200, b"", length=len(known or b""))

    def _get(self, key: str, _body: bytes, what: Any) -> None:
        content = self.bucket.files.get(key)
        if content is None:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        if what not in (CUT, TRICKLES):
            self._send(200, content)
            return
        self._send(200, b"", length=len(content))
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True
        rest = content[len(content) // 2 :] if what == TRICKLES else b""
        for place in range(len(rest)):
            if self.bucket.ended.wait(0.05):
                return
            self.wfile.write(rest[place : place + 1])

    def _list(self, query: dict[str, list[str]]) -> None:
        prefix = query.get("prefix", [""])[0]
        inner = [key.removeprefix(prefix) for key in sorted(self.bucket.files) if key.startswith(prefix)]
        folders = sorted({name.partition("/")[0] for name in inner if "/" in name})
        files = [name for name in inner if "/" not in name]
        told = "".join(f"<Contents><Key>{escape(prefix + name)}</Key></Contents>" for name in files)
        told += "".join(
            f"<CommonPrefixes><Prefix>{escape(prefix + name)}/</Prefix></CommonPrefixes>" for name in folders
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{told}</ListBucketResult>"
        self._send(200, text.encode())

    def _send(self, status: int, body: bytes, *, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Last-Modified", formatdate(time.time(), usegmt=True))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Little is taken before it is read: else a whole file lies in the system's buffer while the server waits."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, TAKEN_BYTES)
        super().server_bind()

    def handle_error(self, *_: Any) -> None:
        """Whoever asked has gone."""


@contextmanager
def failing_server() -> Iterator[FailingServer]:
    """A server without files and faults, which is gone afterwards."""
    made = FailingServer()
    server = _Quiet(("127.0.0.1", 0), type("Handler", (_Handler,), {"bucket": made}))
    made.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield made
    finally:
        made.ended.set()
        server.shutdown()
        server.server_close()
