"""The receipt that a portal gives when people's records were erased (Ed25519 over canonical JSON).

Its facts are signed, and its file has one form: the bytes that the portal gave out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from mechanisms.json_types import JsonObject
from mechanisms.verify import signature
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import as_written, without_doubles

WHAT = "receipt"
# All that a receipt has: what stands beside them was signed by nobody.
SIGNATURE = ("key", "signature")
# The facts in the order of the file. Those that a later version adds stand behind, in the order of their names.
ENTRIES = ("what", "dataset", "name", "at", "by", "because", "key", "files", "stays")
# What every receipt says. The portal's key signs bundles and checkpoints, too, which say another thing or nothing.
ERASED = "people's records and true counts of a dataset"
ALWAYS = set(ENTRIES) - {"stays"}


def check(content: bytes, *keys: str) -> Finding:
    """Whether the receipt has the bytes that the portal gave out, and one of the keys signed it.

    Without keys anybody may have signed it with one of their own, and nothing is said to hold.
    """
    changed = Finding(WHAT, State.FAILED, "the receipt or its signature was changed")
    try:
        document = json.loads(content, object_pairs_hook=without_doubles)
        text = signed_text(document["receipt"])
        if content != as_file(document["receipt"], document):
            return changed
        if document["receipt"]["what"] != ERASED or not document["receipt"].keys() >= ALWAYS:
            return Finding(WHAT, State.FAILED, "it says nothing of an erasure, so it is no receipt")
    except (AttributeError, KeyError, TypeError, ValueError):
        return changed
    verified = signature.verified(changed, document, text, *keys)
    if keys or verified.state is not State.HOLDS:
        return verified
    # The signature is all that a receipt has to show: by whose key it is nobody has compared.
    return Finding(WHAT, State.NOT_CHECKED, verified.details)


def as_file(facts: JsonObject, signed: Mapping[str, object]) -> bytes:
    """The file of a receipt. signed: has the public key and the signature. Raises KeyError where one is missing."""
    others = sorted(facts.keys() - {*ENTRIES})
    ordered = {name: _by_name(facts[name]) for name in (*ENTRIES, *others) if name in facts}
    return as_written({"receipt": ordered, **{name: signed[name] for name in SIGNATURE}})


def signed_text(facts: object) -> bytes:
    """What is signed: the receipt's facts as canonical JSON (RFC 8785)."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _by_name(value: object) -> object:
    """The same with the entries of objects in the order of their names."""
    if isinstance(value, list):
        return [_by_name(each) for each in value]
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in sorted(value)}
    return value
