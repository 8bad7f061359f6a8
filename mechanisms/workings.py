"""What plans search for that takes seconds and depends on neither data nor the amount of a loss.

Whoever answers people sets a shelf: then a plan takes such a result from there, and where there is none yet it raises
`NotWorkedOutError` at once. Without a shelf it works the result out, and remembers it as long as the process lives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from mechanisms.protocol import PlanError

P = ParamSpec("P")
R = TypeVar("R")
_MOST_REMEMBERED = 256


class NotWorkedOutError(PlanError):
    """A result that is not on the shelf yet."""


class Shelf(Protocol):
    """Where results lie, as JSON."""

    def result(self, name: str, arguments: Sequence[Any]) -> Any:
        """The result of the search of this name.

        Raises NotWorkedOutError if there is none yet, PlanError if there can be none.
        """
        ...


_shelf: ContextVar[Shelf | None] = ContextVar("shelf", default=None)
_searches: dict[str, Search[Any, Any]] = {}


@contextmanager
def taken_from(shelf: Shelf) -> Iterator[None]:
    """What takes long is taken from the shelf while the block runs."""
    token = _shelf.set(shelf)
    try:
        yield
    finally:
        _shelf.reset(token)


def work_out(name: str, arguments: Sequence[Any]) -> Any:
    """The result of a search, as JSON, from what `Shelf.result` was asked. Raises PlanError, KeyError."""
    return _searches[name].work_out(arguments)


class Search(Generic[P, R]):
    """A function whose results may come from a shelf.

    takes_long: of the arguments, whether they do. spelled: the arguments as JSON; None for those that JSON cannot say,
    of which the result is always worked out. read_arguments: the way back. write, read: the result to JSON and back.
    """

    def __init__(
        self,
        search: Callable[P, R],
        takes_long: Callable[P, bool],
        spelled: Callable[P, list[Any] | None],
        read_arguments: Callable[[Sequence[Any]], tuple[Any, ...]],
        write: Callable[[R], Any],
        read: Callable[[Any], R],
    ) -> None:
        self._search: Any = lru_cache(maxsize=_MOST_REMEMBERED)(search)
        self._name = f"{search.__module__}.{search.__qualname__}"
        self._takes_long, self._spelled, self._read_arguments = takes_long, spelled, read_arguments
        self._write, self._read = write, read
        _searches[self._name] = self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        shelf = _shelf.get()
        if shelf is not None and self._takes_long(*args, **kwargs):
            spelled = self._spelled(*args, **kwargs)
            if spelled is not None:
                return self._read(shelf.result(self._name, spelled))
        found: R = self._search(*args, **kwargs)
        return found

    def work_out(self, arguments: Sequence[Any]) -> Any:
        return self._write(self._search(*self._read_arguments(arguments)))
