"""A process's sign of life, and its end where it no longer gets messages from the queue."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.utils import timezone

from dpportal.jobs import readiness
from dpportal.jobs.clock import db_ago
from dpportal.jobs.models import BEAT_SECONDS, Heartbeat
from dpportal.jobs.runner import kinds
from dpportal.platform import storage

log = logging.getLogger(__name__)

# An idle worker that gets no message for so many leases, while a job waits, is cut off from the queue.
DEAF_AFTER_LEASES = 3
FORGET_AFTER_SECONDS = 24 * 3600.0


class HeartbeatThread:
    """Beats in the background for one process.

    kind: what it is. queues: those that it listens to. deaf: asked at each beat; if true, the process is sent the
    signal, to be started again by its supervisor. busy: whether it could take no further job now.
    """

    def __init__(
        self,
        kind: Heartbeat.Kind,
        queues: Collection[str] = (),
        deaf: Callable[[], bool] = lambda: False,
        busy: Callable[[], bool] = lambda: False,
        ended_by: signal.Signals = signal.SIGKILL,
    ) -> None:
        self.kind = kind
        self.queues = sorted(queues)
        self.deaf = deaf
        self.busy = busy
        self.ended_by = ended_by
        self.name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def end(self) -> None:
        """Stop beating, and remove this process from the list at once."""
        self._stop.set()
        with suppress(DatabaseError):
            Heartbeat.objects.filter(pk=self.name).delete()

    def beat(self, trouble: str = "") -> None:
        """trouble: what this process cannot do, where nothing stops its machine."""
        obstacle = readiness.obstacle() or trouble
        signs = {"own_clock": timezone.now(), "busy": self.busy(), "obstacle": obstacle}
        if not Heartbeat.objects.filter(pk=self.name).update(seen_at=Now(), **signs):
            Heartbeat.objects.filter(seen_at__lt=db_ago(FORGET_AFTER_SECONDS)).delete()
            Heartbeat.objects.create(name=self.name, kind=self.kind, queues=self.queues, **signs)

    def _run(self) -> None:
        while True:
            deaf = False
            with suppress(DatabaseError):  # a server that restarts: the next beat finds it
                self.beat()
                deaf = self.deaf()
            # Closed after each beat: a pool that forks meanwhile would share the connection.
            connection.close()
            if deaf:
                log.error("This worker hears nothing of the jobs that wait; it ends, to be started anew.")
                os.kill(os.getpid(), self.ended_by)
            if self._stop.wait(BEAT_SECONDS):
                return


class IdleTimer:
    """How long a worker that does one task at a time has been idle. queues: those that it listens to."""

    def __init__(self, queues: Collection[str]) -> None:
        self.queues = queues
        self.since: float | None = time.monotonic()

    def begin(self, **_: object) -> None:
        self.since = None

    def end(self, **_: object) -> None:
        self.since = time.monotonic()

    def busy(self) -> bool:
        return self.since is None

    def deaf(self) -> bool:
        """Whether it is idle although a job has waited so long that it should have got the message."""
        if self.since is not None and _hindered():
            self.since = time.monotonic()
        return self.since is not None and _deaf_since(self.since, self.queues)


class FreePlaceTimer:
    """How long a worker whose pool does several tasks at a time has had a place free. tasks: how many it does now.

    Where the queue's server dies under a task, the end of that task cannot be acknowledged, and Celery waits for that
    for ever: the place is lost, and with the last one the worker hears of nothing any more.
    """

    def __init__(self, queues: Collection[str], tasks: Callable[[], int], places: int) -> None:
        self.queues = queues
        self.tasks = tasks
        self.places = places
        self.since = time.monotonic()

    def busy(self) -> bool:
        return self.tasks() >= self.places

    def deaf(self) -> bool:
        """Whether a place has been free for so long that a job that waits should have got it."""
        if self.busy() or _hindered():
            self.since = time.monotonic()
        return _deaf_since(self.since, self.queues)


def _hindered() -> bool:
    """Whether this machine can do no jobs: its workers hear of none then, and for a while after that."""
    return bool(readiness.obstacle()) or storage.is_full()


def _deaf_since(since: float, queues: Collection[str]) -> bool:
    patience = DEAF_AFTER_LEASES * settings.JOB_LEASE_SECONDS
    return time.monotonic() - since > patience and waited_longer(patience, queues)


def waited_longer(seconds: float, queues: Collection[str]) -> bool:
    """Whether a job has been in one of these queues for longer than that."""
    return any(kind.due_in(queues).filter(queued_at__lt=db_ago(seconds)).exists() for kind in kinds())
