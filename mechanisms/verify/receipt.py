"""The receipt that a portal gives when people's records were erased (Ed25519 over canonical JSON).

Its facts are signed, not the bytes of its file, which no digest names: who stores it with other blanks or in another
order of entries keeps a receipt. A file of a bundle has to have its bytes.
"""

from __future__ import annotations

import json
from dataclasses import replace

from mechanisms.verify import signature
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import without_doubles

WHAT = "receipt"
# All that a receipt has: what stands beside them was signed by nobody.
PARTS = {"receipt", "key", "signature"}
SIGNED = "each entry is as it was signed, their order and the blanks between them are not signed"


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
    found = signature.found(changed, document, text, *keys)
    return replace(found, details=f"{found.details}; {SIGNED}") if found.state is State.HOLDS else found


def signed_text(facts: object) -> bytes:
    """What is signed: the receipt's facts as canonical JSON (RFC 8785)."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
