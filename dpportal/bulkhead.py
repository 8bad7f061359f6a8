"""So that a folder or a server that hangs takes some of a web server's threads, and none of them for long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

# Of one place's calls so many are under way at a time, and a page waits for one so long; others find other threads.
PLACES, PATIENCE_SECONDS = 4, 5.0

Result = TypeVar("Result")


class HangsError(Exception):
    """A call has not ended in time, or as many as there may be have not; it may still come to its end later."""


class Bulkhead:
    """Makes calls in threads of its own once it is closed; until then, as in workers, it makes them at once."""

    def __init__(self, places: int = PLACES, seconds: float = PATIENCE_SECONDS) -> None:
        self.places, self.seconds = places, seconds
        self._threads: ThreadPoolExecutor | None = None
        self._stuck = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """For a process in which people wait for pages."""
        self._threads = ThreadPoolExecutor(self.places, thread_name_prefix="bulkhead")

    def open(self) -> None:
        """Make calls at once again."""
        self._threads = None

    def call(self, function: Callable[[], Result]) -> Result:
        """What the function returns or raises. Raises HangsError; then nobody may rely on its not being done."""
        if self._threads is None:
            return function()
        if self._stuck >= self.places:
            raise HangsError
        future = self._threads.submit(function)
        try:
            return future.result(self.seconds)
        except TimeoutError:
            if future.done():  # a fault of the function's own
                raise
        if not future.cancel():
            self._count(1)
            future.add_done_callback(self._came_back)
        raise HangsError

    def _came_back(self, _future: Future[Any]) -> None:
        self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._stuck += change


# The memory's folder, and the server that keeps the files where it is not this machine.
MEMORY, STORE = Bulkhead(), Bulkhead()
