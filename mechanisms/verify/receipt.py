"""The receipt that a portal gives when people's records were erased (Ed25519 over canonical JSON)."""

from __future__ import annotations

import json

from mechanisms.verify import signature
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import without_doubles

WHAT = "receipt"
# All that a receipt has: what stands beside them was signed by nobody.
PARTS = {"receipt", "key", "signature"}


def check(content: bytes, *keys: str) -> Finding:
    """Whether the receipt is as it was signed, and, with keys, by one of them."""
    changed = Finding(WHAT, State.FAILED, "the receipt or its signature was changed")
    try:
        document = json.loads(content, object_pairs_hook=without_doubles)
        text = signed_text(document["receipt"])
    except (KeyError, TypeError, ValueError):
        return changed
    if set(document) != PARTS:
        return changed
    return signature.found(changed, document, text, *keys)


def signed_text(facts: object) -> bytes:
    """What is signed: the receipt's facts as canonical JSON (RFC 8785)."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
