"""One way to write facts as bytes, so that a digest of them can be computed again by anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

# What is written alike everywhere: no floats, whose digits differ from language to language.
CanonicalValue: TypeAlias = (
    "str | int | bool | Sequence[CanonicalValue] | Mapping[str, CanonicalValue] | None"
)


def canonical(facts: Mapping[str, CanonicalValue]) -> bytes:
    """RFC 8785 for facts without floats, with names of plain letters: sorted names, no blanks, UTF-8."""
    _require_plain(facts)
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _require_plain(value: CanonicalValue) -> None:
    if isinstance(value, float):
        raise TypeError("A float has no canonical digits; write it as text.")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not name.isascii():
                raise TypeError("Names in canonical JSON are ASCII here.")
            _require_plain(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            _require_plain(inner)
