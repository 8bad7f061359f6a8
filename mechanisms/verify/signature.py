"""Whether the portal signed release.json (Ed25519, RFC 8032)."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

from mechanisms.json_types import JsonObject
from mechanisms.verify.bundle import RELEASE, SIGNATURE, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import as_written

WHAT = "signature"


def signed_text(digest: str) -> bytes:
    """What is signed: the SHA-256 of release.json, as canonical JSON (RFC 8785)."""
    return json.dumps({"release.json": digest}, separators=(",", ":")).encode()


def _signed_parts(signed: JsonObject) -> JsonObject:
    return {name: signed.get(name) for name in ("key", "signature")}


def check(bundle: Bundle, *keys: str) -> Finding:
    """With keys, whether one of them signed it; without, whether the key that stands beside it did."""
    if SIGNATURE not in bundle.entries:
        return Finding(WHAT, State.FAILED, "the bundle has none")
    changed = Finding(WHAT, State.FAILED, "release.json or its signature was changed")
    try:
        signed = json.loads(bundle.content(SIGNATURE))
    except ValueError:
        return changed
    # What stands beside them, or is written otherwise, was signed by nobody.
    if not isinstance(signed, dict) or bundle.content(SIGNATURE) != as_written(_signed_parts(signed)):
        return changed
    return verified(changed, signed, signed_text(bundle.digest(RELEASE)), *keys)


def verified(changed: Finding, signed: JsonObject, text: bytes, *keys: str) -> Finding:
    """Whether `signed`, with "key" and "signature", signs the text, by one of the keys if there are any.

    changed: what is found otherwise.
    """
    what = changed.what
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return Finding(what, State.NOT_CHECKED, "it takes the package cryptography: pip install cryptography")
    try:
        key, signature = bytes.fromhex(signed["key"]), b64decode(signed["signature"], validate=True)
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return changed
    # Other texts say the same bytes, and nobody has written them.
    if (key.hex(), b64encode(signature).decode()) != (signed["key"], signed["signature"]):
        return changed
    if not keys:
        return Finding(what, State.HOLDS, f"by the key {signed['key']}; compare it with the portal's own")
    known = signed["key"] in {key.lower() for key in keys}
    other = "" if known else f"by the key {signed['key']}, which is another one"
    return Finding.of(what, other, "by the key that was given" if len(keys) == 1 else "by one of the keys")
