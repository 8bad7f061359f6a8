"""Plans that need a search: workers find what takes long, and the same request is answered some seconds later.

Where nobody asks again, as on the command line, the search is done at once, while no row is locked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from dpportal.jobs.memoised import Topic
from dpportal.jobs.search_cache import SEARCHES, SearchResults, active
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, AwaitedError
from dpportal.releases.wizard.choosing import DraftChoiceError
from mechanisms.deferred_search import PendingSearchError, taken_from

POLL_SECONDS = 0.5
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


class NotedResults(SearchResults):
    """Results that note what is asked and not there, though the transaction that asked is undone."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: list[Json] = []

    def result(self, name: str, version: int, arguments: Sequence[object]) -> Any:
        try:
            return super().result(name, version, arguments)
        except PendingSearchError:
            self.missing.append(Topic(name, version).asks(arguments=list(arguments)))
            raise


def worked_out(work: Callable[[], T]) -> T:
    """What `work` returns once nothing that it plans with is missing; it is called again after each search.

    work: keeps nothing. A search runs here, unless a worker is faster, between two calls: nothing is locked then.
    """
    while True:
        results, done = NotedResults(), None
        try:
            with taken_from(results):
                done = work()
        except (AwaitedError, DraftChoiceError):
            if not results.missing:
                raise
        if not results.missing:
            return done  # type: ignore[return-value]
        for question in results.missing:
            _search(question)


def _search(question: Json) -> None:
    key = SEARCHES.ask(question).key
    SEARCHES.run(key)
    while active([key]):
        time.sleep(POLL_SECONDS)
