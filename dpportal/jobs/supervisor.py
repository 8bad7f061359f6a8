"""Keeps the processes of an embedded portal running, each a copy of one that has loaded everything.

A copy shares the memory of what was loaded, and starts at once. The supervisor itself does nothing else than to start
and to wait: it has no threads and no connections that a copy could inherit.
"""

from __future__ import annotations

import ctypes
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

from dpportal.jobs.process_activity import Life, Stopped

log = logging.getLogger(__name__)

GRACE_SECONDS = 15.0
LOOK_SECONDS, HURRY_SECONDS = 0.5, 0.1
SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES = 5
# Linux's prctl: the signal that a process gets when the one that started it ends.
PR_SET_PDEATHSIG = 1
# Between two starts of a process that ends again and again: doubled each time, up to the longest.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0


class GaveUpError(Exception):
    """The web server ended again and again right after its start."""


class ApartError(Exception):
    """The work in a copy failed; the copy has logged why."""


@dataclass
class Process:
    """A child in a process group of its own, so that Ctrl-C reaches only the supervisor, which stops it in order.

    run: what it does until it is told to end. vital: without it the portal ends; others are tried for ever, so that
    people can still sign in and read. watched: if it stands still it is killed, since it may hold SQLite's one lock;
    not for one that has copies of its own, which is killed if a signal has stopped it.
    """

    name: str
    run: Callable[[], object]
    vital: bool = False
    watched: bool = False
    process: ForkProcess | None = None
    life: Life | Stopped | None = None
    started: float = 0.0
    short_lives: int = field(default=0)
    not_before: float = 0.0

    def start(self) -> None:
        self.started = time.monotonic()
        connections.close_all()
        life = Life() if self.watched else None
        arguments = (self.run, life, os.getpid())
        self.process = multiprocessing.get_context("fork").Process(target=_begin, args=arguments)
        self.process.start()
        self.life = life or Stopped()

    def ended(self) -> bool:
        return self.process is not None and not self.process.is_alive()

    def keep(self) -> None:
        """Start again after an unexpected end, with growing pauses if that keeps happening.

        Raises GaveUpError for a vital process.
        """
        if self.process is None and time.monotonic() >= self.not_before:
            self.start()
        elif self.ended() or self._stands_still():
            self._end_group()
            if self.process is not None:
                self.process.join(10 * HURRY_SECONDS)  # or how it ended would not be known yet
            reason = self._reason()
            self.process = None
            self._pause()
            pause = max(0.0, self.not_before - time.monotonic())
            log.warning("The %s ended (%s); it is started again in %.0f s.", self.name, reason, pause)

    def _reason(self) -> str:
        """The signal or exit code with which it ended, and how long it ran."""
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
        """Wait for the end. A process that runs at the deadline is killed; its job comes back at the next start."""
        if self.process is None:
            return
        while self.process.is_alive() and time.monotonic() < until and len(_came) < 2:
            self.process.join(HURRY_SECONDS)
        self._end_group()
        self.process.join()

    def _end_group(self) -> None:
        """Kill whatever is left of the process and its own children: they would keep the port, or a job."""
        if self.process is not None and self.process.pid is not None:
            with suppress(ProcessLookupError):  # none is left, or it has just begun and has no group yet
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()


def _begin(run: Callable[[], object], life: Life | None, parent: int) -> None:
    """The first act of a copy: end by its own signals, not by its parent's.

    A group, not a session of its own: Linux shares processors out between sessions (sched_autogroup) and heeds only
    within one which process is to give way.
    """
    os.setpgid(0, 0)
    _end_with(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if life is not None:
        life.begin()
    try:
        run()
    except Exception:
        log.exception("A process of the portal failed.")  # or Python would write it past the log
        raise SystemExit(1) from None


def _end_with(parent: int) -> None:
    """Be killed when the supervisor is: nobody else would start this process again, or give its port away."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before this was asked for
        os.kill(os.getpid(), signal.SIGKILL)


# The signals that asked for the end; of more than one, the further ones hurry it.
_came: list[int] = []


def heed_interrupts() -> None:
    """Let the first SIGINT or SIGTERM raise KeyboardInterrupt, and each further one speed up the end.

    A second exception would break off that end, and leave processes behind.
    """

    def heed(number: int, _frame: object) -> None:
        _came.append(number)
        if len(_came) == 1:
            raise KeyboardInterrupt

    _came.clear()
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
        while not _came:
            for child in children:
                child.keep()
            time.sleep(LOOK_SECONDS)
        raise KeyboardInterrupt  # it came in a place where Python lets no exception out, as in a callback
    finally:
        stop(children)
        gc.unfreeze()


def stop(children: list[Process]) -> None:
    """Ask all to end, and give them a while together."""
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
