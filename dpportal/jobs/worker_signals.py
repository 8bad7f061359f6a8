"""Signals of a Celery worker: its heartbeat, its time limits, and waiting while its machine cannot work."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from celery.concurrency.solo import TaskPool
from celery.signals import (
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)
from celery.worker.state import active_requests
from django.conf import settings

from dpportal.jobs import lock_timeouts, readiness
from dpportal.jobs.heartbeat import FreePlaceTimer, HeartbeatThread, IdleTimer
from dpportal.jobs.models import Heartbeat

if TYPE_CHECKING:
    from celery.worker.consumer import Consumer

READY_FILE = "worker.ready"
_beating = threading.Event()


@worker_init.connect  # type: ignore[untyped-decorator]
def be_patient(**_: object) -> None:
    """Set the limits before the processes of a pool begin, which inherit them."""
    lock_timeouts.keep_to(lock_timeouts.of_jobs())


@worker_init.connect  # type: ignore[untyped-decorator]
@worker_process_init.connect  # type: ignore[untyped-decorator]
def spare_the_lock(**_: object) -> None:
    """In each process of a pool, too, since threads do not outlive a fork."""
    lock_timeouts.wait_briefly_for_memory()


@task_prerun.connect  # type: ignore[untyped-decorator]
def wait_until_ready(**_: object) -> None:
    """Wait in the process that is about to do a task."""
    readiness.wait()


@worker_ready.connect  # type: ignore[untyped-decorator]
def say_ready(sender: Consumer, **_: object) -> None:
    """Report to the supervisor and to the page “Health” that the worker listens to its queue.

    Celery says so again whenever it has reached a queue's server that was away; the pulse goes on.
    """
    if _beating.is_set():
        return
    _beating.set()
    names = set(sender.app.amqp.queues.consume_from)
    alone = isinstance(sender.pool, TaskPool)
    pulse = _pulse_of_one(names) if alone else _pulse_of_pool(names, sender.controller.concurrency)
    pulse.start()
    worker_shutting_down.connect(lambda **_: pulse.end(), weak=False)
    (settings.DATA_DIR / READY_FILE).touch()


def _pulse_of_one(names: set[str]) -> HeartbeatThread:
    """That of a worker that does its tasks itself, and is killed if it hangs in the queue's server."""
    idleness = IdleTimer(names)
    task_prerun.connect(idleness.begin, weak=False)
    task_postrun.connect(idleness.end, weak=False)
    return HeartbeatThread(Heartbeat.Kind.WORKER, names, idleness.deaf, idleness.busy)


def _pulse_of_pool(names: set[str], places: int) -> HeartbeatThread:
    """That of a worker with processes for its tasks, which it lets end before it does."""
    free = FreePlaceTimer(names, lambda: len(active_requests), places)
    return HeartbeatThread(Heartbeat.Kind.WORKER, names, free.deaf, free.busy, signal.SIGTERM)
