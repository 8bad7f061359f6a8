"""Stored files of people's records and true counts are opened by the room of records alone, also at run time.

`datasets.records` opens the context around its reading, and nobody else may (a contract in pyproject.toml). The
storages check before they open a file. A path that is found on the disk by other means is not seen here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# All that holds true values of a dataset lies under it.
FOLDER = "records"
_is_open: ContextVar[bool] = ContextVar("records are read", default=False)


class RecordsRefusedError(PermissionError):
    """A file of people's records was to be opened by something other than the room of records."""

    def __init__(
        self, text: str = "Stored records are read by dpportal.datasets.records only; call it instead."
    ) -> None:
        super().__init__(text)  # an argument, so that another process can say it on


@contextmanager
def reading() -> Iterator[None]:
    """Lets files of records be opened while it is open, in this thread and context. For `records` only."""
    token = _is_open.set(True)
    try:
        yield
    finally:
        _is_open.reset(token)


def require_reading(name: str) -> None:
    """Raises RecordsRefusedError for the name of a file of records, unless the room of records reads."""
    if posixpath.normpath(name).split("/")[0] == FOLDER and not _is_open.get():
        raise RecordsRefusedError
