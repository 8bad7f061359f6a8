"""A signature is taken in the one way in which it is written."""

from __future__ import annotations

from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mechanisms.verify.finding import Finding, State
from mechanisms.verify.signature import verified

CHANGED = Finding("signature", State.FAILED, "changed")
OWN = Ed25519PrivateKey.generate()
KEY = OWN.public_key().public_bytes_raw().hex()
SIGNATURE = b64encode(OWN.sign(b"text")).decode()
# Of the last sign before ==, which says two bits, four more are free.
SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
OTHER = SIGNATURE[:-3] + SIGNS[SIGNS.index(SIGNATURE[-3]) ^ 1] + "=="


def test_a_signature_holds() -> None:
    assert verified(CHANGED, {"key": KEY, "signature": SIGNATURE}, b"text", KEY).state is State.HOLDS


@pytest.mark.parametrize(
    "signed",
    [
        {"key": KEY, "signature": OTHER},
        {"key": KEY.upper(), "signature": SIGNATURE},
        {"key": f"{KEY} ", "signature": SIGNATURE},
        {"key": KEY, "signature": b64encode(bytes(64)).decode()},
    ],
    ids=["other bits", "capitals", "a blank", "another"],
)
def test_the_same_bytes_written_otherwise_are_a_change(signed: dict[str, str]) -> None:
    assert verified(CHANGED, signed, b"text") is CHANGED


def test_another_key_fails() -> None:
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
    assert verified(CHANGED, {"key": KEY, "signature": SIGNATURE}, b"text", other).state is State.FAILED
