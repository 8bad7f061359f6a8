"""Visitors who speak to a portal byte by byte, with nothing between."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.dpportal.portal_command.starting import answers

PART_OF_A_HEAD = b"GET /health/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
PART_OF_A_BODY = (
    b"POST /account/sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 1000\r\nCookie: csrftoken=00000000000000000000000000000000\r\n\r\nu"
)


def large_file(data: Path) -> bytes:
    """What asks the portal of a data folder for its largest file."""
    names = json.loads((data / "static/staticfiles.json").read_text())["paths"]
    return f"GET /static/{names['plotly/plotly.min.js']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


@contextmanager
def crowd(port: int, number: int, said: bytes) -> Iterator[list[socket.socket]]:
    """So many connections that have said so much, and say and read nothing more."""
    with ExitStack() as stack:
        visitors = [stack.enter_context(connect(port)) for _ in range(number)]
        for visitor in visitors:
            visitor.sendall(said)
        yield visitors


def slowest_answer(port: int, times: int) -> float:
    """Seconds that the slowest of so many requests took, one after the other."""
    seconds = []
    for _ in range(times):
        begun = time.monotonic()
        assert answers(port)
        seconds.append(time.monotonic() - begun)
    return max(seconds)


def is_ended(visitor: socket.socket, patience: float) -> bool:
    """Whether the portal ends the connection within so many seconds, with or without an answer before."""
    until = time.monotonic() + patience
    while (left := until - time.monotonic()) > 0:
        visitor.settimeout(left)
        with suppress(TimeoutError):
            try:
                if not visitor.recv(65536):
                    return True
            except ConnectionError:
                return True
    return False


def first_line(visitor: socket.socket, patience: float) -> str:
    """Of the answer; empty if there is none."""
    visitor.settimeout(patience)
    with suppress(ConnectionError, TimeoutError):
        return visitor.recv(65536).decode(errors="replace").partition("\r\n")[0]
    return ""


def push_until_answered(visitor: socket.socket, part: bytes, times: int) -> tuple[str, int]:
    """Send until the portal answers; returns the first line of its answer and the bytes that were sent."""
    sent = 0
    visitor.settimeout(0.05)
    with suppress(ConnectionError):
        for _ in range(times):
            if select.select([visitor], [], [], 0)[0]:
                break
            with suppress(TimeoutError):  # nobody reads just now
                sent += visitor.send(part[sent % len(part) :])
    return first_line(visitor, 20), sent
