"""Plans that need a search: workers find what takes long, and the same request is answered some seconds later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dpportal.jobs.search_cache import SearchResults
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, AwaitedError
from mechanisms.deferred_search import taken_from

T = TypeVar("T")


class RequestSearch:
    """What is searched for while one request is answered."""

    def __init__(self, results: SearchResults) -> None:
        self.results = results

    def answer(self, draft: Release, work: Callable[[], T]) -> T:
        """What `work` returns. Raises AwaitedError where the portal chooses the method and cannot compare all yet."""
        done = work()
        if draft.mechanism == AUTOMATIC and self.results.awaited:
            raise AwaitedError("", "method")
        return done


@contextmanager
def searching() -> Iterator[RequestSearch]:
    """While the block runs, what a plan searches for long is taken from workers and never worked out."""
    results = SearchResults()
    with taken_from(results):
        yield RequestSearch(results)
