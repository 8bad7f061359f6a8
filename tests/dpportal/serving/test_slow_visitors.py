"""Hundreds who hold a connection and say or read almost nothing keep nobody else waiting."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import pytest

from tests.dpportal.portal_command.starting import Portal, free_port, proportional_mb, wait_until
from tests.dpportal.serving.visitors import (
    PART_OF_A_BODY,
    PART_OF_A_HEAD,
    connect,
    crowd,
    first_line,
    is_ended,
    large_file,
    push_until_answered,
    slowest_answer,
)
from tests.dpportal.world import with_servers

pytestmark = pytest.mark.worker

MANY = 500
# Far more than an answer takes on a busy machine, and less than any slow visitor is waited for.
SOON = 5.0


@pytest.fixture(scope="module")
def portal(tmp_path_factory):
    running = Portal(tmp_path_factory.mktemp("portal") / "data", free_port())
    yield running
    running.end()


@pytest.mark.parametrize(
    "said",
    [b"", PART_OF_A_HEAD, PART_OF_A_BODY],
    ids=["say nothing", "part of a head", "one byte of a body"],
)
def test_others_are_answered_soon_while_hundreds(portal, said):
    with crowd(portal.port, MANY, said):
        assert slowest_answer(portal.port, 30) < SOON


def test_others_are_answered_soon_while_a_hundred_read_nothing(portal):
    with crowd(portal.port, 100, large_file(portal.data)):
        assert slowest_answer(portal.port, 30) < SOON


@pytest.mark.parametrize("said", [b"", PART_OF_A_HEAD], ids=["nothing", "part of a head"])
def test_a_connection_that_never_says_what_it_wants_is_ended(portal, said):
    with connect(portal.port) as visitor:
        visitor.sendall(said)
        assert is_ended(visitor, 20)


def test_a_body_that_does_not_come_is_not_waited_for(portal):
    with connect(portal.port) as visitor:
        visitor.sendall(PART_OF_A_BODY)
        visitor.settimeout(50)
        assert visitor.recv(65536).startswith(b"HTTP/1.1 408 ")
        assert is_ended(visitor, 5)


def test_there_are_no_websockets(portal):
    asked = (
        "GET /health/ HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    )
    with connect(portal.port) as visitor:
        visitor.sendall("\r\n".join(asked).encode() + b"\r\n\r\n")
        assert first_line(visitor, SOON).startswith("HTTP/1.1 403 ")
    assert "Traceback" not in portal.said()


def test_memory_comes_back_when_a_crowd_has_left(portal):
    before = proportional_mb(portal.process.pid)
    with crowd(portal.port, 600, large_file(portal.data)):
        assert slowest_answer(portal.port, 5) < SOON
    wait_until(
        lambda: proportional_mb(portal.process.pid) < before + 100, "its memory is given back", seconds=60
    )


ADDRESSES = ["/", "/datasets/new/", "/account/sign-in/", "/nowhere"]


def head(address: str, length: str) -> bytes:
    lines = (
        f"POST {address} HTTP/1.1",
        "Host: localhost",
        f"Cookie: csrftoken={32 * '0'}",
        "Content-Type: multipart/form-data; boundary=B",
        length,
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_stranger_s_large_file_is_refused_before_it_comes(portal, address):
    with connect(portal.port) as visitor:
        visitor.sendall(head(address, "Content-Length: 300000000"))
        assert first_line(visitor, SOON).startswith("HTTP/1.1 413 ")


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_stranger_s_file_of_unsaid_length_is_never_kept_on_disk(portal, address):
    with connect(portal.port) as visitor:
        visitor.sendall(head(address, "Transfer-Encoding: chunked"))
        part = f"{2**16:x}\r\n".encode() + bytes(2**16) + b"\r\n"
        answer, sent = push_until_answered(visitor, part, 4000)
        # Whoever goes on sending for seconds may lose the answer with the connection.
        assert answer.partition(" ")[2][:3] in ("413", "") and sent < 4000 * 2**16
        assert portal.scratch_bytes() < 2**16


def test_strangers_who_hold_what_they_may_send_take_no_disk(portal):
    with ExitStack() as stack:
        for _ in range(60):
            visitor = stack.enter_context(connect(portal.port))
            visitor.sendall(head("/account/sign-in/", "Content-Length: 16384") + bytes(16000))
        assert slowest_answer(portal.port, 2) < SOON
        assert portal.scratch_bytes() < 2**16


def test_a_stranger_s_megabyte_is_refused_before_it_comes(portal):
    with connect(portal.port) as visitor:
        visitor.sendall(head("/account/sign-in/", "Content-Length: 1048576"))
        assert first_line(visitor, SOON).startswith("HTTP/1.1 413 ")


@pytest.mark.postgres
@pytest.mark.redis
def test_hundreds_keep_nobody_waiting_on_postgresql_either(tmp_path, postgres_url, redis_url):
    """Gunicorn by its own command, as on several machines; what the page of health says of workers does not matter."""
    port = free_port()
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        world.start(
            "-m", "gunicorn", "-c", "python:dpportal.serving.gunicorn_conf", "--bind", f"127.0.0.1:{port}"
        )
        wait_until(lambda: asks_after_its_health(port), "gunicorn answers", seconds=60)
        for said in (b"", PART_OF_A_HEAD, PART_OF_A_BODY):
            with crowd(port, MANY, said):
                assert all(asks_after_its_health(port) for _ in range(30))


def asks_after_its_health(port: int) -> bool:
    """Whether it answers soon."""
    with suppress(ConnectionError), connect(port) as visitor:
        visitor.sendall(b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return first_line(visitor, SOON).startswith("HTTP/1.1 ")
    return False
