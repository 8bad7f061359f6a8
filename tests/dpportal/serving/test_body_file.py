"""A request's body: whole again, sealed while it lies on the disk, and gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from dpportal.serving.body_file import BodyFile

LONG = b"canary " * 20_000


def bodies() -> list[Path]:
    return list(Path(settings.SCRATCH_DIR).glob("*.body"))


@pytest.mark.parametrize("content", [b"", b"short", LONG])
def test_it_is_whole_again_and_leaves_no_file(content: bytes) -> None:
    body = BodyFile()
    for start in range(0, len(content), 50_000):
        body.write(content[start:][:50_000])
    with body.opened() as file:
        assert file.read() == content
        assert bodies() == []


def test_a_long_one_is_sealed_on_the_disk_and_discarded_where_its_sender_has_gone() -> None:
    body = BodyFile()
    body.write(LONG)
    [path] = bodies()
    assert b"canary" not in path.read_bytes()
    body.discard()
    assert bodies() == []
