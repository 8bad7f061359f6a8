"""The embedded queue: whole messages, one taker each, and what cannot be read set aside."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError

from dpportal.jobs import folder_transport


@pytest.fixture
def inbox(tmp_path) -> Path:
    return tmp_path


def queue(inbox: Path):
    folder_transport.register()
    where = {"data_folder_in": str(inbox), "data_folder_out": str(inbox)}
    return Connection("folder://", transport_options=where).SimpleQueue("celery")


def waiting(inbox: Path) -> list[str]:
    return [path.name for path in inbox.iterdir() if path.suffix == ".msg" and not path.name.startswith(".")]


def test_messages_come_in_the_order_in_which_they_were_sent(inbox):
    for number in range(20):
        queue(inbox).put({"number": number})
    received = [queue(inbox).get(timeout=1) for _ in range(20)]
    for message in received:
        message.ack()
    assert [message.payload["number"] for message in received] == list(range(20))
    assert waiting(inbox) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"null", b"\xff\xfe", b'{"body": "x"'])
def test_an_unreadable_message_is_set_aside_and_the_next_one_is_read(inbox, caplog, content):
    (inbox / "0_broken.celery.msg").write_bytes(content)
    queue(inbox).put({"number": 1})
    assert queue(inbox).get(timeout=1).payload == {"number": 1}
    assert (inbox / folder_transport.QUARANTINE / "0_broken.celery.msg").read_bytes() == content
    assert "set aside" in caplog.text


def test_of_many_workers_one_takes_each_message(inbox):
    for number in range(200):
        queue(inbox).put(number)

    def take(_: int) -> list[int]:
        own, taken = queue(inbox), []
        while True:
            try:
                message = own.get(block=False)
            except Empty:
                return taken
            message.ack()
            taken.append(message.payload)

    with ThreadPoolExecutor(8) as pool:
        taken = [number for part in pool.map(take, range(8)) for number in part]
    assert sorted(taken) == list(range(200))


def test_a_full_disk_leaves_no_part_of_a_message(inbox, monkeypatch):
    def full(self: Path, text: str) -> None:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ChannelError, match="No space left"):
        queue(inbox).put({"number": 1})
    assert list(inbox.iterdir()) == []


def test_a_message_is_readable_the_moment_that_it_is_there(inbox):
    queue(inbox).put("x" * 100_000)
    [name] = waiting(inbox)
    assert json.loads((inbox / name).read_text()).keys() >= folder_transport.PARTS
