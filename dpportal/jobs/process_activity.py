"""Whether a process of this machine still makes progress, checked without the database, which it may have locked."""

from __future__ import annotations

import mmap
import threading
import time
from contextlib import suppress
from pathlib import Path

BEAT_SECONDS = 1.0
# A process that showed nothing in so many looks stands still. Looks are counted, and not seconds, since whoever looks
# may have been stopped as well.
STILL_AFTER_LOOKS = 16


class Stopped:
    """Whether a signal has stopped a process: for one with processes of its own, which would share its byte."""

    def __init__(self) -> None:
        self._looks = 0

    def is_still(self, pid: int) -> bool:
        """Look once, from outside. Returns whether it was stopped in each of the last STILL_AFTER_LOOKS looks."""
        self._looks = self._looks + 1 if is_stopped(pid) else 0
        return self._looks >= STILL_AFTER_LOOKS


class Life:
    """A byte that a process shares with the one that started it, and that a thread of it moves on.

    A signal that stops the process stops that thread, too. A long calculation may keep the thread from running, but
    then the processor's time goes on. A call that waits for a file system lets the thread run: it is not seen here.
    """

    def __init__(self) -> None:
        self._beats = mmap.mmap(-1, 1)
        self._last: tuple[int, int] | None = None
        self._looks = 0

    def begin(self) -> None:
        """Beat from now on; called in the process itself."""
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while True:
            self._beats[0] = (self._beats[0] + 1) % 256
            time.sleep(BEAT_SECONDS)

    def is_still(self, pid: int) -> bool:
        """Look once, from outside. Returns whether nothing moved in the last STILL_AFTER_LOOKS looks."""
        now = (self._beats[0], processor_time(pid))
        self._looks = self._looks + 1 if now == self._last else 0
        self._last = now
        return self._looks >= STILL_AFTER_LOOKS


def processor_time(pid: int) -> int:
    """The time of all threads of a process, in ticks of the system; 0 where the system does not say."""
    fields = _status_of(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped a process; False where the system does not say."""
    return _status_of(pid)[:1] == ["T"]


def _status_of(pid: int) -> list[str]:
    """What the system says of a process after its name; nothing where it does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []
