"""What can be wrong with a connected table, in words that show no value of it."""

from __future__ import annotations


class SourceFault(Exception):  # noqa: N818 a fault of the other database, not of the portal
    """A table that cannot be counted now. code: a stable name. message: what is wrong and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
