"""Who may write budgets and ledger lines: `ledger`, while it does; every other writer is refused at run time.

`ledger` opens the context around each statement of its own, and nobody else may (a contract in pyproject.toml).
Behind it stand the triggers of the database, see `triggers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, NoReturn, TypeVar

from django.db import models

M = TypeVar("M", bound=models.Model)
_is_open: ContextVar[bool] = ContextVar("the ledger writes", default=False)


class LedgerWriteError(TypeError):
    """A budget or a ledger line was to be written by something other than the ledger."""

    def __init__(self, words: str = "") -> None:
        super().__init__(
            words or "Budgets and ledger lines are written by dpportal.budgets.ledger only; call it instead."
        )


@contextmanager
def writing() -> Iterator[None]:
    """Lets budgets and lines be written while it is open, in this thread and context. For `ledger` only."""
    token = _is_open.set(True)
    try:
        yield
    finally:
        _is_open.reset(token)


def require_writing() -> None:
    """Raises LedgerWriteError unless the ledger writes."""
    if not _is_open.get():
        raise LedgerWriteError


class GuardedQuerySet(models.QuerySet[M], Generic[M]):
    """Reads as any other. Every way of Django's to write goes through one of these, whichever manager it begins at."""

    def update(self, **kwargs: object) -> int:
        require_writing()
        return super().update(**kwargs)

    def _update(self, values: object) -> int:
        require_writing()
        return int(super()._update(values))  # type: ignore[misc]

    def _insert(self, *args: object, **kwargs: object) -> object:
        require_writing()
        return super()._insert(*args, **kwargs)  # type: ignore[misc]

    def delete(self) -> NoReturn:
        raise LedgerWriteError("Budgets and ledger lines are never deleted.")

    def _raw_delete(self, using: str | None) -> NoReturn:
        raise LedgerWriteError("Budgets and ledger lines are never deleted.")


class Guarded(models.Model):
    """A row that only the ledger writes, and that nobody deletes."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        require_writing()
        super().save(*args, **kwargs)

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        raise LedgerWriteError("Budgets and ledger lines are never deleted.")
