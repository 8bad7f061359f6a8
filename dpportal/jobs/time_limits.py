"""How long a task may take: first the task gets an exception, later its process is killed.

Celery's own limits hold in one kind of pool only; these hold wherever a task runs in its process's main thread.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from celery.exceptions import SoftTimeLimitExceeded

SHORTEST_SECONDS = 0.001


@contextmanager
def limited(soft: float, hard: float) -> Iterator[None]:
    """Raise SoftTimeLimitExceeded in the block after `soft` seconds; after `hard` seconds kill this process.

    Only the main thread can be interrupted; elsewhere nothing is limited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, begun = signal.signal(signal.SIGALRM, _interrupt), time.perf_counter()
    killer = threading.Timer(hard, os.kill, (os.getpid(), signal.SIGKILL))
    killer.daemon = True
    killer.start()
    outer, _interval = signal.setitimer(signal.ITIMER_REAL, soft)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        killer.cancel()
        signal.signal(signal.SIGALRM, before)
        if outer:  # the rest of the time of a block around this one
            left = max(SHORTEST_SECONDS, outer - (time.perf_counter() - begun))
            signal.setitimer(signal.ITIMER_REAL, left)


def _interrupt(*_: object) -> None:
    raise SoftTimeLimitExceeded
