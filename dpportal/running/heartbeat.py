"""A process's sign of life, and its end where it has become deaf to the queue."""

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

from dpportal import storage
from dpportal.running import readiness
from dpportal.running.clock import ago
from dpportal.running.jobs import kinds, waiting
from dpportal.running.models import BEAT_SECONDS, Heartbeat

log = logging.getLogger(__name__)

# An idle worker that hears of nothing for so many leases, while something waits, hears nothing at all.
DEAF_AFTER_LEASES = 3
FORGET_AFTER_SECONDS = 24 * 3600.0


class Pulse:
    """Beats in the background for one process.

    kind: what it is. queues: those that it listens to. deaf: asked at each beat; if true, the process is killed, to be
    started anew by whoever keeps it. busy: whether it could take no further job now.
    """

    def __init__(
        self,
        kind: Heartbeat.Kind,
        queues: Collection[str] = (),
        deaf: Callable[[], bool] = lambda: False,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self.kind = kind
        self.queues = sorted(queues)
        self.deaf = deaf
        self.busy = busy
        self.name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def end(self) -> None:
        """Stop beating, and be gone from the list at once."""
        self._stop.set()
        with suppress(DatabaseError):
            Heartbeat.objects.filter(pk=self.name).delete()

    def beat(self) -> None:
        told = {"own_clock": timezone.now(), "busy": self.busy(), "obstacle": readiness.obstacle()}
        if not Heartbeat.objects.filter(pk=self.name).update(seen_at=Now(), **told):
            Heartbeat.objects.filter(seen_at__lt=ago(FORGET_AFTER_SECONDS)).delete()
            Heartbeat.objects.create(name=self.name, kind=self.kind, queues=self.queues, **told)

    def _run(self) -> None:
        while True:
            deaf = False
            with suppress(DatabaseError):  # a server that restarts: the next beat finds it
                self.beat()
                deaf = self.deaf()
            # Not kept for the next beat: a pool that forks meanwhile would share it.
            connection.close()
            if deaf:
                log.error("This worker hears nothing of the jobs that wait; it ends, to be started anew.")
                os.kill(os.getpid(), signal.SIGKILL)
            if self._stop.wait(BEAT_SECONDS):
                return


class Idleness:
    """For how long a worker that does one task at a time has had none. queues: those that it listens to."""

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
        """Whether it has been idle so long that it should have heard of a job that has waited as long for it.

        While its machine can do no job it hears of none, and so for a while after that.
        """
        if self.since is not None and (readiness.obstacle() or storage.is_full()):
            self.since = time.monotonic()
        patience = DEAF_AFTER_LEASES * settings.JOB_LEASE_SECONDS
        since = self.since
        return (
            since is not None and time.monotonic() - since > patience and waited_longer(patience, self.queues)
        )


def waited_longer(seconds: float, queues: Collection[str]) -> bool:
    """Whether a job has been in one of these queues for longer than that."""
    return any(
        kind.in_queues(queues).filter(waiting(), queued_at__lt=ago(seconds)).exists() for kind in kinds()
    )
