"""Secret keys: from the environment, or made once and kept beside the data, readable by its owner only; and what is
sealed with them."""

from __future__ import annotations

import os
import secrets
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

NONCE_BYTES = 12


def secret(name: str, folder: Path) -> str:
    """The secret called `name`: the variable DPPORTAL_<NAME> if set, else the file keys/<name>, made on first use."""
    given = os.environ.get(f"DPPORTAL_{name.upper()}")
    if given:
        return given
    path = folder / "keys" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    return path.read_text()


class UnsealError(Exception):
    """Something sealed cannot be opened: another key, another owner, or changed bytes."""


def new_token() -> str:
    """A password for a program: 256 random bits, in characters that an address may hold."""
    return secrets.token_urlsafe(32)


def seal(key: str, content: bytes, *, bound_to: str) -> bytes:
    """Encrypt and authenticate (AES-256-GCM, NIST SP 800-38D), so that only the same key and name open it again.

    bound_to: what the content belongs to; it is not hidden, and not part of the result.
    """
    nonce = os.urandom(NONCE_BYTES)
    return nonce + _cipher(key).encrypt(nonce, content, bound_to.encode())


def unseal(key: str, sealed: bytes, *, bound_to: str) -> bytes:
    """What `seal` was given. Raises UnsealError."""
    try:
        return _cipher(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound_to.encode())
    except (InvalidTag, ValueError):  # changed, or too short to be anything sealed
        raise UnsealError from None


@lru_cache(maxsize=4)
def _cipher(key: str) -> AESGCM:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"dpportal sealing").derive(key.encode())
    return AESGCM(derived)
