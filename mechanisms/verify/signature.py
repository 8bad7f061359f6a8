"""Whether the portal signed release.json (Ed25519, RFC 8032)."""

from __future__ import annotations

import json
from base64 import b64decode

from mechanisms.verify.bundle import RELEASE, SIGNATURE, Bundle
from mechanisms.verify.finding import Finding, State

WHAT = "signature"


def signed_text(digest: str) -> bytes:
    """What is signed: the SHA-256 of release.json, as canonical JSON (RFC 8785)."""
    return json.dumps({"release.json": digest}, separators=(",", ":")).encode()


def check(bundle: Bundle, *keys: str) -> Finding:
    """With keys, whether one of them signed it; without, whether the key that stands beside it did."""
    if SIGNATURE not in bundle.entries:
        return Finding(WHAT, State.FAILED, "the bundle has none")
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return Finding(WHAT, State.NOT_CHECKED, "it takes the package cryptography: pip install cryptography")
    try:
        signed = json.loads(bundle.content(SIGNATURE))
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed["key"]))
        public.verify(b64decode(signed["signature"], validate=True), signed_text(bundle.digest(RELEASE)))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return Finding(WHAT, State.FAILED, "release.json or its signature was changed")
    if not keys:
        return Finding(WHAT, State.HOLDS, f"by the key {signed['key']}; compare it with the portal's own")
    known = signed["key"] in {key.lower() for key in keys}
    other = "" if known else f"by the key {signed['key']}, which is another one"
    return Finding.of(WHAT, other, "by the key that was given" if len(keys) == 1 else "by one of the keys")
