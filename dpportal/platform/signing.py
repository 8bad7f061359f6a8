"""Ed25519 signatures (RFC 8032) with the portal's key, whose public part everybody may have."""

from __future__ import annotations

from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class SignatureError(Exception):
    """A signature is not one of these keys, or of something else."""


class SigningKeys:
    """The key that signs, and former ones whose signatures stay good. Public keys are written in hexadecimal digits."""

    def __init__(self, current: str, *former: str) -> None:
        self._key = _private(current)
        self.public = [_public(_private(key)) for key in (current, *former)]

    def sign(self, content: bytes) -> dict[str, str]:
        """The public key and the signature, in base64."""
        return {"key": self.public[0], "signature": b64encode(self._key.sign(content)).decode()}

    def check(self, content: bytes, signed: dict[str, str]) -> None:
        """Raises SignatureError unless one of these keys signed the content."""
        if signed.get("key") not in self.public:
            raise SignatureError("It is signed with a key that this portal never had.")
        check(content, signed)


def check(content: bytes, signed: dict[str, str]) -> None:
    """Raises SignatureError unless the key that is named there signed the content."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed["key"]))
        key.verify(b64decode(signed["signature"], validate=True), content)
    except (InvalidSignature, KeyError, TypeError, ValueError):
        raise SignatureError("The signature is not of this content: one of both was changed.") from None


def _private(secret: str) -> Ed25519PrivateKey:
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"dpportal signing")
    return Ed25519PrivateKey.from_private_bytes(derived.derive(secret.encode()))


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
