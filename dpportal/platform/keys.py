"""Key files, written durably for their owner only; what a good key is; and sealing with keys."""

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

from dpportal.platform.durable_files import fsync, write_new

ID_BYTES, NONCE_BYTES = 4, 12
HEAD_BYTES = ID_BYTES + NONCE_BYTES
# As Django asks of its own secret: what is shorter, or of hardly any different characters, is no key.
SHORTEST, FEWEST_DIFFERENT = 50, 5


def make(path: Path, content: str = "") -> None:
    """Write a new key durably, or this content; of several that start at once, all see that of the first, whole."""
    part = _durable_part(path, content or new_secret())
    with suppress(FileExistsError):
        path.hardlink_to(part)
    part.unlink()
    fsync(path.parent)


def replace(path: Path, content: str) -> None:
    """Write a key file anew, durably and in one step: whoever reads it sees the former content or this one."""
    _durable_part(path, content).replace(path)
    fsync(path.parent)


def new_secret() -> str:
    """64 random characters."""
    return secrets.token_urlsafe(48)


def parts_of(path: Path) -> list[Path]:
    """What is left where a process died while it wrote a key file, and what another one writes now."""
    return list(path.parent.glob(f".{path.name}.*"))


def _durable_part(path: Path, content: str) -> Path:
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_new(part, content.encode())
    return part


def good(key: str, what: str) -> str:
    """The key, if it can be secret. Raises ImproperlyConfigured."""
    if len("".join(key.split())) < SHORTEST or len(set(key)) < FEWEST_DIFFERENT:
        raise ImproperlyConfigured(
            f"{what} is too short or too simple; a key needs at least {SHORTEST} characters without the blanks, and "
            f"{FEWEST_DIFFERENT} different ones. Restore the key from a backup. If it was in use, make it a former key "
            "and re-seal. Only if nothing was ever made with it, remove it, and a new one is made at the next start."
        )
    return key


class UnsealError(Exception):
    """Something sealed cannot be opened: another key, another owner, or changed bytes.

    key: the identity of the key that it was sealed with, where the portal does not have that one; else empty.
    """

    def __init__(self, key: str = "") -> None:
        missing = f"sealed with the key {key}, which the portal does not have"
        super().__init__(missing if key else "sealed for another, or changed")
        self.key = key


def new_token() -> str:
    """A password for a program: 256 random bits, in characters that an address may hold."""
    return secrets.token_urlsafe(32)


class Keyring:
    """The key that seals, and former ones that still open what they sealed.

    Sealed bytes begin with the identity of their key, which reveals nothing of the key.
    missing: the identity of the key without which nothing may be sealed, where the portal does not have it.
    """

    def __init__(self, *keys: str, missing: str = "") -> None:
        self.missing = missing
        self.current = "" if missing else key_id(keys[0])
        self._ciphers = {key_id(key): _cipher(key) for key in keys}

    def seal(self, content: bytes, *, bound_to: str) -> bytes:
        """Encrypt and authenticate (AES-256-GCM, NIST SP 800-38D), so that only the same key and name open it again.

        bound_to: what the content belongs to; it is not hidden, and not part of the result. Raises UnsealError where
        the key is missing.
        """
        if self.missing:
            raise UnsealError(self.missing)
        nonce = os.urandom(NONCE_BYTES)
        encrypted = self._ciphers[self.current].encrypt(nonce, content, bound_to.encode())
        return bytes.fromhex(self.current) + nonce + encrypted

    def seal_json(self, text: bytes, *, bound_to: str, step: int) -> bytes:
        """Seal JSON that is filled up with blanks to a multiple of `step` bytes, since sealing hides no length."""
        return self.seal(text.ljust(-(-len(text) // step) * step), bound_to=bound_to)

    def unseal(self, sealed: bytes, *, bound_to: str) -> bytes:
        """The content that was given to `seal`. Raises UnsealError."""
        key, nonce, encrypted = sealed[:ID_BYTES].hex(), sealed[ID_BYTES:][:NONCE_BYTES], sealed[HEAD_BYTES:]
        if key not in self._ciphers:
            raise UnsealError(key)
        try:
            return self._ciphers[key].decrypt(nonce, encrypted, bound_to.encode())
        except (InvalidTag, ValueError):  # changed, or too short to be anything sealed
            raise UnsealError from None

    def resealed(self, sealed: bytes, *, bound_to: str) -> bytes | None:
        """The same under the current key; None if it is under that already. Raises UnsealError."""
        if sealed[:ID_BYTES].hex() == self.current:
            return None
        return self.seal(self.unseal(sealed, bound_to=bound_to), bound_to=bound_to)


@lru_cache(maxsize=16)
def key_id(key: str) -> str:
    """The identity of a key, in hexadecimal digits."""
    return _derived(key, b"dpportal key id", ID_BYTES).hex()


@lru_cache(maxsize=16)
def _cipher(key: str) -> AESGCM:
    return AESGCM(_derived(key, b"dpportal sealing", 32))


def _derived(key: str, purpose: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length=length, salt=None, info=purpose).derive(key.encode())
