"""What people wrote themselves, of what a request reads of the database: pages show it as it was written.

A page is put together of the portal's words and theirs. Which is which nobody can tell afterwards, so what their fields
hold is noted when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import models

# What the fields held; their texts are looked at for pages alone that need them.
_read: ContextVar[list[Any] | None] = ContextVar("own texts", default=None)


@contextmanager
def collected() -> Iterator[None]:
    """Within it what people wrote is noted as it is read."""
    token = _read.set([])
    try:
        yield
    finally:
        _read.reset(token)


def lines_that_matter(matters: Callable[[str], bool]) -> set[str]:
    """Lines of what was noted so far that matter; none where nobody collects."""
    lines = (line.strip() for text in _texts(_read.get() or []) for line in text.splitlines())
    return set(filter(matters, lines))


def watch(model: type[models.Model], *names: str) -> None:
    """Have what these fields hold noted from now on, also where a query asks for single columns."""
    for name in names:
        own = model._meta.get_field(name)
        setattr(own, "from_db_value", _noting(getattr(own, "from_db_value", None)))  # noqa: B010 (no field declares it)


def _noting(converted: Callable[..., Any] | None) -> Callable[..., Any]:
    """How a field reads what the database gives. converted: how it did before."""

    def from_db_value(value: Any, expression: Any, connection: Any) -> Any:
        own = converted(value, expression, connection) if converted else value
        noted = _read.get()
        if noted is not None:
            noted.append(own)
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
