"""How long a task may take: first the task gets an exception, later its process is killed.

Celery's own limits hold in one kind of pool only; these hold wherever a task runs in its process's main thread.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from celery.exceptions import SoftTimeLimitExceeded


@contextmanager
def limited(soft: float, hard: float) -> Iterator[None]:
    """Raise SoftTimeLimitExceeded in the block after `soft` seconds; after `hard` seconds kill this process.

    Only the main thread can be interrupted; elsewhere nothing is limited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    killer = threading.Timer(hard, os.kill, (os.getpid(), signal.SIGKILL))
    killer.daemon = True
    killer.start()
    signal.setitimer(signal.ITIMER_REAL, soft)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        killer.cancel()
        signal.signal(signal.SIGALRM, before)


def _interrupt(*_: object) -> None:
    raise SoftTimeLimitExceeded
