"""What comes in never fills the disk: bodies look for space as they come, and announced files are added up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.urls import reverse

from dpportal.accounts.session_store import SessionStore
from dpportal.platform import storage
from dpportal.serving.admission import AdmissionControl
from dpportal.serving.handler import PortalHandler
from dpportal.serving.request_body import ANYONE_BYTES
from tests.dpportal.streams import building
from tests.dpportal.streams.test_api import token_of

MEGABYTE = 2**20
# As dpportal.asgi makes it; to import that module would set up the whole process as a web server, for all other tests.
application = AdmissionControl(PortalHandler())
pytestmark = pytest.mark.django_db(transaction=True)


class Disk:
    """A disk on which so much is free above the floor; what is received takes of it."""

    def __init__(self, monkeypatch, free: int) -> None:
        self.free = free
        self.usage = storage.shutil.disk_usage("/")
        monkeypatch.setattr(storage.shutil, "disk_usage", self.look)

    def look(self, _path):
        floor = min(storage.settings.MIN_FREE_BYTES, self.usage.total // 10)
        return self.usage._replace(free=floor + self.free)


def scope(address: str, *headers: tuple[bytes, bytes]):
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": address,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), *headers],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
    }


def cookie(person) -> tuple[bytes, bytes]:
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "dpportal.accounts.backend.WrittenPeople"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return b"cookie", f"sessionid={session.session_key}".encode()


async def answer(asked, parts: Iterator[bytes]) -> tuple[int, bytes]:
    """Status and text for a request whose body comes in these parts."""
    said = []

    async def receive():
        part = next(parts, None)
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(message):
        said.append(message)

    await application(asked, receive, send)
    return said[0]["status"], b"".join(m.get("body", b"") for m in said[1:])


def test_a_file_of_unsaid_length_stops_where_the_disk_has_no_more_space(curator, monkeypatch):
    disk = Disk(monkeypatch, 20 * MEGABYTE)
    asked = scope("/datasets/new/", cookie(curator), (b"transfer-encoding", b"chunked"))
    taken = 0

    def parts():
        nonlocal taken
        for _ in range(80 * 4):
            disk.free -= MEGABYTE // 4
            taken += MEGABYTE // 4
            yield bytes(MEGABYTE // 4)

    status, text = asyncio.run(answer(asked, parts()))
    assert (status, b"disk is nearly full" in text) == (507, True)
    assert disk.free < 0


def test_files_that_were_announced_are_added_up(curator, other_curator, monkeypatch):
    """Each fits by itself, both do not: the second is refused while the first is on its way, not afterwards."""
    Disk(monkeypatch, 30 * MEGABYTE)
    length = (b"content-length", str(10 * MEGABYTE).encode())
    asked = [scope("/datasets/new/", cookie(person), length) for person in (curator, other_curator)]

    async def both():
        coming, gone = asyncio.Event(), asyncio.Event()

        async def receive():
            coming.set()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            raise AssertionError("a visitor who has gone is answered")

        first = asyncio.create_task(application(asked[0], receive, send))
        await coming.wait()
        during = await answer(asked[1], iter(()))
        gone.set()
        await first
        return during, await answer(asked[1], iter(()))

    (during, text), (after, _) = asyncio.run(both())
    assert (during, b"disk is nearly full" in text) == (507, True)
    assert after != 507


@pytest.mark.parametrize("right", [True, False])
def test_a_program_may_send_a_long_period_with_the_token_alone(dataset, right):
    stream = building.open_stream(dataset)
    token = token_of(stream) if right else "wrong"
    body = b'{"period": 1, "counts": ' + b" " * 3 * ANYONE_BYTES + b'"?"}'
    headers = (b"authorization", f"Bearer {token}".encode()), (b"content-length", str(len(body)).encode())
    asked = scope(reverse("streams:periods", args=[stream.pk]), *headers)
    status, _text = asyncio.run(answer(asked, iter([body])))
    assert status == (400 if right else 413)


def test_a_long_body_is_refused_where_the_disk_is_read_only(curator, tmp_path, settings):
    """Whatever stops the disk from taking it; here a file stands where its folder should be."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "file"
    settings.FILE_UPLOAD_TEMP_DIR.touch()
    chunked = (b"transfer-encoding", b"chunked")
    asked = scope("/datasets/new/", cookie(curator), chunked, (b"accept", b"application/json"))
    status, text = asyncio.run(answer(asked, iter([bytes(MEGABYTE)])))
    assert (status, b"file storage does not answer" in text) == (503, True)
