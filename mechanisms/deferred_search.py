"""What plans search for that takes seconds and depends on neither data nor the amount of a loss.

Whoever answers people sets a store: then a plan takes such a result from there, and where there is none yet it raises
`PendingSearchError` at once. Without one it works the
result out, and remembers it as long as the process lives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from mechanisms.protocol import PlanError

P = ParamSpec("P")
R = TypeVar("R")
_MOST_REMEMBERED = 256


class PendingSearchError(PlanError):
    """A result that is not in the store yet."""


class ResultStore(Protocol):
    """Where results lie, as JSON, by the search's name, its version and its arguments."""

    def result(self, name: str, version: int, arguments: Sequence[object]) -> object:
        """The result of the search of this name.

        Raises PendingSearchError if there is none yet, PlanError if there can be none.
        """

    def search_again(self, name: str, version: int, arguments: Sequence[object]) -> object:
        """Have a result replaced that cannot be read; raises as `result` does."""


_store: ContextVar[ResultStore | None] = ContextVar("store", default=None)
_searches: dict[tuple[str, int], Search[Any, Any]] = {}


@contextmanager
def taken_from(store: ResultStore) -> Iterator[None]:
    """What takes long is taken from the store while the block runs."""
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)


def is_known(name: str, version: int) -> bool:
    """Whether this code has a search of this name, in this version."""
    return (name, version) in _searches


def work_out(name: str, version: int, arguments: Sequence[object]) -> object:
    """The result of a search, as JSON, from what `ResultStore.result` was asked.

    Raises PlanError, and KeyError for a search, or a version of one, that this code does not have.
    """
    return _searches[name, version].work_out(arguments)


@dataclass(frozen=True)
class JsonForm(Generic[P, R]):
    """How a search's arguments and its result are written as JSON, and read back.

    write_arguments: None for those that JSON cannot say, of which the result is always worked out.
    """

    write_arguments: Callable[P, Sequence[object] | None]
    read_arguments: Callable[[Sequence[Any]], tuple[object, ...]]
    write: Callable[[R], object]
    read: Callable[[Any], R]


class Search(Generic[P, R]):
    """A function whose results may come from a store.

    name: what results are stored under, for good. version: counts up whenever results change, or are written in another
    way, so that those of older code are replaced. takes_long: of the arguments, whether they do.
    """

    def __init__(
        self,
        name: str,
        version: int,
        search: Callable[P, R],
        takes_long: Callable[P, bool],
        form: JsonForm[P, R],
    ) -> None:
        self._search: Callable[..., R] = lru_cache(maxsize=_MOST_REMEMBERED)(search)
        self.name, self.version = name, version
        self._takes_long, self._form = takes_long, form
        _searches[name, version] = self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        store = _store.get()
        if store is not None and self._takes_long(*args, **kwargs):
            arguments = self._form.write_arguments(*args, **kwargs)
            if arguments is not None:
                return self._stored(store, arguments)
        return self._search(*args, **kwargs)

    def _stored(self, store: ResultStore, arguments: Sequence[object]) -> R:
        result = store.result(self.name, self.version, arguments)
        try:
            return self._form.read(result)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return self._form.read(store.search_again(self.name, self.version, arguments))

    def work_out(self, arguments: Sequence[object]) -> object:
        """Read back before anyone relies on it: a result that its own code cannot read would be searched for ever."""
        written = self._form.write(self._search(*self._form.read_arguments(arguments)))
        self._form.read(json.loads(json.dumps(written)))
        return written
