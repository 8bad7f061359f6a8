"""JSON that a program sent, read so that nothing in it is passed over."""

from __future__ import annotations

import json
from typing import NoReturn

# What Python itself reads: a longer one would be no number of its own.
MOST_DIGITS = 4300


class DoubledNameError(ValueError):
    """An object has a name twice: of two values for one thing, none is the right one. name: which."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class LongNumberError(ValueError):
    """A whole number has more than MOST_DIGITS digits."""


def read(content: bytes) -> object:
    """What the content says. Raises DoubledNameError, LongNumberError, another ValueError where it is no JSON, and
    RecursionError where objects lie too deep in one another.
    """
    return json.loads(content, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read: dict[str, object] = {}
    for name, value in pairs:
        if name in read:
            raise DoubledNameError(name)
        read[name] = value
    return read


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise LongNumberError
    return int(digits)


def _refuse(constant: str) -> NoReturn:
    """NaN and infinities, which are no JSON."""
    raise ValueError(constant)
