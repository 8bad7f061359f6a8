"""Refuses to touch stored files while a transaction is open: a file server may be slow, and everyone would wait for it.

SQLite has one lock for all writers, and PostgreSQL holds the rows that the transaction has locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from django.db import connection

from dpportal.platform import storage
from dpportal.platform.storage import PrivateStorage

METHODS = ("open", "save", "delete", "exists", "listdir", "size", "get_modified_time")
# A file that is moved to its place passes none of these.
FUNCTIONS = ("local_path", "keep")


class LockedMeanwhileError(AssertionError):
    """A stored file was touched inside a transaction of the portal's own."""


def _check(name: str) -> None:
    # A test's own transaction, in which it is undone, locks nobody out.
    if any(not block._from_testcase for block in connection.atomic_blocks):
        raise LockedMeanwhileError(
            f"{name} was called inside a transaction; do it before, or once it is committed"
        )


def _guarded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check(name)
        return function(*args, **kwargs)

    return call


@contextmanager
def unlocked_storage() -> Iterator[None]:
    """The default storage refuses within transactions, as long as this is open."""
    with pytest.MonkeyPatch.context() as patch:
        for name in METHODS:
            patch.setattr(PrivateStorage, name, _guarded(getattr(PrivateStorage, name), name))
        for name in FUNCTIONS:
            patch.setattr(storage, name, _guarded(getattr(storage, name), name))
        yield
