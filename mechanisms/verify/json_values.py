"""Values of JSON: every entry by its path, and whether two are the same up to the rounding of floats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mechanisms.json_types import JsonObject

# Of sums of floats, which another processor ends otherwise.
RELATIVE = 1e-9
# A number with so many zeros that a program would work on it for minutes.
_ENDLESS = re.compile(r"\s*[+-]?[0-9._]+[eE][+-]?[0-9_]{5,}\s*")
# An amount of privacy loss with decimals.
_AMOUNT = re.compile(r"[ερ] = [0-9]+\.[0-9]+")


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every entry that holds no other, with its path: names and numbers with dots between."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not value or not isinstance(value, dict | list):
        yield path, value
    for name, each in inside:
        yield from leaves(each, f"{path}.{name}" if path else str(name))


def is_same(stated: Any, own: Any) -> bool:
    """Whether two values of JSON are the same, floats up to rounding, and amounts up to zeros at their ends."""
    if isinstance(own, dict):
        return (
            isinstance(stated, dict)
            and list(stated) == list(own)
            and all(is_same(stated[name], own[name]) for name in own)
        )
    if isinstance(own, list | tuple):
        return isinstance(stated, list) and len(stated) == len(own) and all(map(is_same, stated, own))
    if isinstance(own, float) and isinstance(stated, float):
        return abs(stated - own) <= RELATIVE * max(abs(own), 1e-300)
    if isinstance(own, str) and isinstance(stated, str):
        return without_zeros(stated) == without_zeros(own)
    return type(stated) is type(own) and bool(stated == own)


def without_zeros(text: str) -> str:
    """A text whose amounts of privacy loss have no zeros at their ends: ε = 0.50 was written as ε = 0.5 before."""
    return _AMOUNT.sub(lambda match: match.group().rstrip("0").rstrip("."), text)


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError where a name stands twice, of which readers take one or the other."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name stands twice")
    return values


def has_endless_number(value: Any) -> bool:
    """Whether an entry, but for the values of a column, is a text that says a number with thousands of digits."""
    return any(
        isinstance(text, str) and ".values." not in path and _ENDLESS.fullmatch(text) is not None
        for path, text in leaves(value)
    )


def as_written(value: JsonObject) -> bytes:
    """JSON as a bundle has it."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
