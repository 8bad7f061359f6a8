"""Keeps the processes of an embedded portal running, each a copy of one that has loaded everything.

A copy shares the memory of what was loaded, and starts at once. The supervisor itself does nothing else than to start
and to wait: it has no threads and no connections that a copy could inherit.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkProcess

from django.db import connections

from dpportal.running.life import Life

log = logging.getLogger(__name__)

GRACE_SECONDS = 15.0
LOOK_SECONDS, HURRY_SECONDS = 0.5, 0.1
SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES = 5
# Between two starts of a process that ends again and again: doubled each time, up to the longest.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0


class GaveUpError(Exception):
    """The web server ended again and again right after its start."""


class ApartError(Exception):
    """What ran in a copy of its own failed; it has said why."""


@dataclass
class Process:
    """A child in a process group of its own, so that Ctrl-C reaches only the supervisor, which stops it in order.

    run: what it does until it is told to end. vital: without it the portal ends; others are tried for ever, so that
    people can still sign in and read. watched: if it stands still it is killed, since it may hold SQLite's one lock;
    not for one that has copies of its own.
    """

    name: str
    run: Callable[[], object]
    vital: bool = False
    watched: bool = False
    process: ForkProcess | None = None
    life: Life | None = None
    started: float = 0.0
    short_lives: int = field(default=0)
    not_before: float = 0.0

    def start(self) -> None:
        self.started = time.monotonic()
        connections.close_all()
        life = Life() if self.watched else None
        self.process = multiprocessing.get_context("fork").Process(target=_begin, args=(self.run, life))
        self.process.start()
        self.life = life

    def ended(self) -> bool:
        return self.process is not None and not self.process.is_alive()

    def keep(self) -> None:
        """Start again after an unwanted end, later and later if that keeps happening.

        Raises GaveUpError where the portal is nothing without it.
        """
        if self.process is None and time.monotonic() >= self.not_before:
            self.start()
        elif self.ended() or self._stands_still():
            self._end_group()
            reason = self._reason()
            self.process = None
            self._pause()
            pause = max(0.0, self.not_before - time.monotonic())
            log.warning("The %s ended (%s); it is started again in %.0f s.", self.name, reason, pause)

    def _reason(self) -> str:
        """By which signal, or with which exit code, it ended, and how long it ran."""
        code = self.process.exitcode if self.process is not None else None
        ran = f"after {time.monotonic() - self.started:.0f} s"
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name} {ran}"
        return f"exit code {code} {ran}"

    def _stands_still(self) -> bool:
        if self.life is None or self.process is None or self.process.pid is None:
            return False
        frozen = self.life.is_still(self.process.pid)
        if frozen:
            log.error("The %s stands still; it is ended, and started anew.", self.name)
        return frozen

    def _pause(self) -> None:
        short = time.monotonic() - self.started < SHORT_LIFE_SECONDS
        self.short_lives = self.short_lives + 1 if short else 0
        if self.vital and self.short_lives >= SHORT_LIVES:
            raise GaveUpError(
                f"The {self.name} ended {SHORT_LIVES} times right after its start; its message is above."
            )
        pause = min(FIRST_PAUSE_SECONDS * 2.0 ** (self.short_lives - 1), LONGEST_PAUSE_SECONDS)
        self.not_before = time.monotonic() + (pause if self.short_lives else 0.0)

    def terminate(self) -> None:
        """Ask the process to end in order; it asks its own children, so that a worker may finish its job."""
        if self.process is not None and self.process.is_alive():
            self.process.terminate()

    def wait(self, until: float) -> None:
        """Wait for the end; what still runs at the deadline is killed and its job comes back at the next start."""
        if self.process is None:
            return
        while self.process.is_alive() and time.monotonic() < until and not _hurried:
            self.process.join(HURRY_SECONDS)
        self._end_group()
        self.process.join()

    def _end_group(self) -> None:
        """Kill whatever is left of the process and its own children: they would keep the port, or a job."""
        if self.process is not None and self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


def _begin(run: Callable[[], object], life: Life | None) -> None:
    """What a copy does first: it leaves its parent's way of ending.

    A group, not a session of its own: Linux shares processors out between sessions (sched_autogroup) and heeds only
    within one which process is to give way.
    """
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if life is not None:
        life.begin()
    run()


# Whether somebody who had asked for the end asked again.
_hurried: list[int] = []


def heed_interrupts() -> None:
    """Have the first SIGINT or SIGTERM raise KeyboardInterrupt, and every further one hurry the end that this begins.

    A second exception would break off that end, and leave processes behind.
    """
    came: list[int] = []

    def heed(number: int, _frame: object) -> None:
        if came:
            _hurried.append(number)
            return
        came.append(number)
        raise KeyboardInterrupt

    _hurried.clear()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have started us with Ctrl-C ignored
        signal.signal(number, heed)


def supervise(children: list[Process], ready: Callable[[], None]) -> None:
    """Run the children until interrupted; `ready` is called once after they started. Stops them all at the end."""
    gc.collect()
    gc.freeze()  # a collection in a copy would otherwise write to every object, and so copy all memory
    try:
        for child in children:
            child.start()
        ready()
        while True:
            for child in children:
                child.keep()
            time.sleep(LOOK_SECONDS)
    finally:
        stop(children)
        gc.unfreeze()


def stop(children: list[Process]) -> None:
    for child in children:
        child.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for child in children:
        child.wait(until)


@contextmanager
def apart(run: Callable[[], object]) -> Iterator[None]:
    """Run something in a copy beside the block, which ends when both have. Raises ApartError if it failed."""
    copy = Process("task", run)
    copy.start()
    try:
        yield
        while not copy.ended():
            time.sleep(0.02)
    finally:
        copy.terminate()
        copy.wait(time.monotonic() + GRACE_SECONDS)
    if copy.process is not None and copy.process.exitcode:
        raise ApartError
