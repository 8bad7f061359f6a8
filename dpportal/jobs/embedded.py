"""The processes of an embedded portal: a web server, a worker for each job at a time, and the sweep."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial

from celery.utils.nodenames import host_format
from django.core.management import call_command
from setproctitle import setproctitle

from dpportal.celery import app as celery_app
from dpportal.jobs import queues
from dpportal.jobs.supervisor import Process

# People wait for pages, and jobs take what the pages leave of the processors.
NICENESS = 10


def processes(host: str, port: int, workers: int) -> list[Process]:
    """Each worker is one process. The first of several takes no conversions, so that a release never waits for one.

    Of several workers at least two take conversions, so that a long file does not hold up another person's. Checks of
    downloads have a process that does nothing else.
    In a pool of one worker's own processes all take from one queue under one lock, which a process that is killed while
    it waits would hold for ever.
    """
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    slots = [
        Process(f"worker {slot}", partial(work, slot, _listens_to(slot, workers)), watched=True)
        for slot in range(1, workers + 1)
    ]
    if workers == 2:
        slots.append(Process("reader", partial(work, workers + 1, (queues.CONVERSIONS,)), watched=True))
    slots.append(Process("checker", partial(work, workers + 2, (queues.CHECKS,)), watched=True))
    return [
        Process("web server", partial(serve, address), vital=True),
        *slots,
        Process("sweep", sweep, watched=True),
    ]


def _listens_to(slot: int, workers: int) -> tuple[str, ...]:
    return (queues.WORK,) if slot == 1 < workers else (queues.WORK, queues.CONVERSIONS)


def serve(address: str) -> None:
    """Answer visitors, as `gunicorn` does on the command line."""
    from gunicorn.app import wsgiapp

    sys.argv = ["gunicorn", "-c", "python:dpportal.serving.gunicorn_conf", "--bind", address]
    wsgiapp.run()


def work(slot: int, names: Sequence[str]) -> None:
    """Do one job at a time, as `celery worker` does on the command line, whose own modules take 25 MB a process."""
    os.nice(NICENESS)
    # Django's checks are of the code, which the suite has checked; here they copy 10 MB of what is shared.
    os.environ["CELERY_SKIP_CHECKS"] = "true"
    # The portal's tasks carry ids in JSON, so what Celery warns a superuser of cannot happen.
    warnings.filterwarnings("ignore", "You're running the worker with superuser")
    worker = celery_app.Worker(
        hostname=host_format(f"worker-{slot}@%h"),
        pool_cls="solo",
        loglevel="WARNING",
        queues=list(names),
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    raise SystemExit(worker.exitcode)


def sweep() -> None:
    """Bring lost jobs back."""
    setproctitle("dpportal sweep")
    call_command("sweep")


def load_everything() -> None:
    """Load what the processes need, so that they share it."""
    # What Celery imports by name when a worker begins.
    from celery.app import amqp, control, events, log, routes  # noqa: F401
    from celery.apps import worker  # noqa: F401
    from celery.events import dispatcher, receiver  # noqa: F401
    from celery.worker import autoscale, components, consumer, strategy  # noqa: F401
    from celery.worker.consumer import delayed_delivery  # noqa: F401
    from django.urls import get_resolver

    celery_app.loader.import_default_modules()
    celery_app.finalize()
    list(get_resolver().url_patterns)
