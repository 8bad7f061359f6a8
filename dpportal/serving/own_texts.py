"""What people wrote themselves, of what a request reads of the database: pages show it as it was written.

A page is put together of the portal's words and theirs. Which is which nobody can tell afterwards, so what their fields
hold is noted when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.db import models


@dataclass
class _Found:
    """Lines that people wrote and that `matters`."""

    matters: Callable[[str], bool]
    lines: set[str] = field(default_factory=set)


_found: ContextVar[_Found | None] = ContextVar("own texts", default=None)


@contextmanager
def collected(matters: Callable[[str], bool]) -> Iterator[None]:
    """Within it lines of people's own that matter are noted as they are read."""
    token = _found.set(_Found(matters))
    try:
        yield
    finally:
        _found.reset(token)


def found() -> set[str]:
    """What was noted so far; nothing where nobody collects."""
    noting = _found.get()
    return set() if noting is None else noting.lines


def watch(model: type[models.Model], *names: str) -> None:
    """Have what these fields hold noted from now on, also where a query asks for single columns."""
    for name in names:
        own = model._meta.get_field(name)
        setattr(own, "from_db_value", _noting(getattr(own, "from_db_value", None)))  # noqa: B010 (no field declares it)


def _noting(converted: Callable[..., Any] | None) -> Callable[..., Any]:
    """How a field reads what the database gives. converted: how it did before."""

    def from_db_value(value: Any, expression: Any, connection: Any) -> Any:
        own = converted(value, expression, connection) if converted else value
        noting = _found.get()
        if noting is not None:
            lines = (line.strip() for text in _texts(own) for line in text.splitlines())
            noting.lines.update(filter(noting.matters, lines))
        return own

    return from_db_value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
