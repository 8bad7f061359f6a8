"""Gunicorn's options for the portal: `gunicorn -c python:dpportal.serving.gunicorn_conf`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.multiprocess import mark_process_dead

if TYPE_CHECKING:
    from dpportal.serving.gunicorn_worker import Worker

IN_MEMORY = "/dev/shm"  # noqa: S108 gunicorn makes a file of its own there, which has no name

wsgi_app = "dpportal.asgi:application"
worker_class = "dpportal.serving.gunicorn_worker.Worker"
workers = 2
# The processes share the memory of what was loaded before they began.
preload_app = True
# Connections of each process, most of them waiting for their visitor.
worker_connections = 4000
keepalive = 5
# A process whose loop stands still for so long is frozen, and may hold SQLite's one lock: requests that take long are
# in threads, and keep no loop.
timeout = 30
# Where processes give their signs of life: in memory, since a data disk that turns read-only takes none, and with that
# the whole web server would end.
worker_tmp_dir = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
graceful_timeout = 10
asgi_lifespan = "off"
loglevel = "warning"
logger_class = "dpportal.serving.gunicorn_log.Log"
# What proxies say is believed by `forwarding` alone, from those that the site declares.
forwarded_allow_ips = ""


def on_starting(_server: object) -> None:
    """Delete the counts of an earlier web server."""
    counted = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    for path in Path(counted).glob("*.db") if counted else ():
        path.unlink(missing_ok=True)


def child_exit(_server: object, worker: Worker) -> None:
    """Forget the requests in flight of a process that ended, however it did."""
    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
