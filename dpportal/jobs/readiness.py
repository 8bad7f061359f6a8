"""Whether this machine can do jobs now; if not, its workers take none. Checked every few seconds at most."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings

CHECK_EVERY_SECONDS = 5.0
# Each says what stops the machine, for an administrator; empty if nothing does. Rooms above add theirs at the start.
checks: list[Callable[[], str]] = []
# The last answer, and its time by this process's own clock.
_latest: list[tuple[float, str]] = []


def obstacle() -> str:
    """What stops this machine, in a sentence; empty if nothing does."""
    now = time.monotonic()
    if not _latest or now - _latest[0][0] >= CHECK_EVERY_SECONDS:
        _latest[:] = [(now, next(filter(None, (check() for check in checks)), ""))]
    return _latest[0][1]


def wait() -> None:
    """Wait for a lease at most while something stops this machine.

    For a worker that has a message. The sweep sends another one for the job, which a worker of another machine gets;
    meanwhile this worker does not take all messages of the queue.
    """
    until = time.monotonic() + settings.JOB_LEASE_SECONDS
    while obstacle() and time.monotonic() < until:
        time.sleep(min(1.0, settings.JOB_LEASE_SECONDS / 4))
