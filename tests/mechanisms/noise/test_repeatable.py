from __future__ import annotations

import hashlib

import pytest

from mechanisms.noise import repeatable


def test_the_same_digest_gives_the_same_numbers() -> None:
    digest = hashlib.sha256(b"released").digest()
    assert repeatable(digest).random(4).tolist() == repeatable(digest).random(4).tolist()


def test_another_digest_gives_other_numbers() -> None:
    one, other = (repeatable(hashlib.sha256(x).digest()).random() for x in (b"1", b"2"))
    assert one != other


def test_a_digest_has_32_bytes() -> None:
    with pytest.raises(ValueError, match="32 bytes, got 5"):
        repeatable(b"short")
