"""A bulkhead: a folder or server that hangs takes few of a web server's threads, and each for a short time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

# So many calls to one place are under way at a time, and a page waits so long for one; others find other threads.
PLACES, PATIENCE_SECONDS = 4, 5.0

T = TypeVar("T")


class HangsError(Exception):
    """A call did not end in time, or too many calls are under way. The call may still end later."""


class Bulkhead:
    """Makes calls in threads of its own once it is closed. Until then, as in workers, it makes them directly."""

    def __init__(self, places: int = PLACES, seconds: float = PATIENCE_SECONDS) -> None:
        self.places, self.seconds = places, seconds
        self._threads: ThreadPoolExecutor | None = None
        self._stuck = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Make calls in threads from now on: for a process in which people wait for pages."""
        self._threads = ThreadPoolExecutor(self.places, thread_name_prefix="bulkhead")
        # Of calls of the process that this one was forked from, none comes back here.
        self._stuck, self._lock = 0, threading.Lock()

    def open(self) -> None:
        """Make calls directly again."""
        self._threads = None

    def call(self, function: Callable[[], T], seconds: float | None = None) -> T:
        """What the function returns or raises. Raises HangsError; the call may still be done afterwards.

        seconds: how long a page waits once it is its turn, if not as long as for all others. Else pages that wait for
        their turn would take all the threads.
        """
        if self._threads is None:
            return function()
        if self._stuck >= self.places:
            raise HangsError
        begun = threading.Event()
        future = self._threads.submit(_announcing(begun, function))
        if seconds is not None and not begun.wait(self.seconds) and future.cancel():
            raise HangsError
        try:
            return future.result(self.seconds if seconds is None else seconds)
        except TimeoutError:
            if future.done():  # a fault of the function's own
                raise
        if not future.cancel():
            self._count(1)
            future.add_done_callback(self._came_back)
        raise HangsError

    def _came_back(self, _future: Future[T]) -> None:
        self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._stuck += change


def _announcing(begun: threading.Event, function: Callable[[], T]) -> Callable[[], T]:
    """The function, which says first that it is its turn."""

    def announced() -> T:
        begun.set()
        return function()

    return announced


# The journal's folder; the server that keeps the files where it is not this machine, and files on their way there; the
# server that has the queue.
MEMORY, STORE, QUEUE = Bulkhead(), Bulkhead(), Bulkhead()
# The institution's own sign-in. One is several questions, each with a time limit of its own.
PROVIDER = Bulkhead(seconds=10)
# A large file that is on its way keeps its place for some while, and whoever comes next has sent a file already.
SENDING = Bulkhead(seconds=30)
