"""The receipt that a portal gives when people's records were erased (Ed25519 over canonical JSON)."""

from __future__ import annotations

import json
from base64 import b64decode

from mechanisms.verify.finding import Finding, State

WHAT = "receipt"


def check(content: bytes, *keys: str) -> Finding:
    """Whether the receipt is as it was signed, and, with keys, by one of them."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return Finding(WHAT, State.NOT_CHECKED, "it takes the package cryptography: pip install cryptography")
    try:
        document = json.loads(content)
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(document["key"]))
        public.verify(b64decode(document["signature"], validate=True), signed_text(document["receipt"]))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return Finding(WHAT, State.FAILED, "the receipt or its signature was changed")
    if not keys:
        return Finding(WHAT, State.HOLDS, f"by the key {document['key']}; compare it with the portal's own")
    known = document["key"] in {key.lower() for key in keys}
    other = "" if known else f"by the key {document['key']}, which is another one"
    return Finding.of(WHAT, other, "by the key that was given")


def signed_text(facts: object) -> bytes:
    """What is signed: the receipt's facts as canonical JSON (RFC 8785)."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
