"""Secret keys: from the environment, or made once and kept beside the data, readable by its owner only; and what is
sealed with them."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.core.exceptions import ImproperlyConfigured

NONCE_BYTES = 12
SHORTEST = 50


def secret(name: str, folder: Path) -> str:
    """The secret called `name`: the variable DPPORTAL_<NAME> if set, else the file keys/<name>, made on first use.

    Raises ImproperlyConfigured for one that is too short to be secret, such as an empty file.
    """
    variable = f"DPPORTAL_{name.upper()}"
    if variable in os.environ:
        return _long_enough(os.environ[variable], f"The variable {variable}")
    path = folder / "keys" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _make(path)
    return _long_enough(path.read_text(), f"The key file {path}")


def _make(path: Path) -> None:
    """Write a new key durably; of several that start at once, all see the key of the first, whole."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        path.hardlink_to(part)
    part.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _long_enough(key: str, what: str) -> str:
    if len(key) < SHORTEST:
        raise ImproperlyConfigured(
            f"{what} has {len(key)} characters; a key needs at least {SHORTEST}. Restore the key from a backup. "
            "Only if nothing was ever made with it, remove it, and a new one is made at the next start."
        )
    return key


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
