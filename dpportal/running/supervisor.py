"""Keeps the processes of an embedded portal running: web server, worker, sweep."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from django.conf import settings

GRACE_SECONDS = 15.0
SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES = 5
# Between two starts of a process that ends again and again: doubled each time, up to the longest.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0
# The portal's tasks carry ids in JSON, so what Celery warns a superuser of cannot happen.
ROOT_WARNING = "ignore:You're running the worker with superuser"


class GaveUpError(Exception):
    """The web server ended again and again right after its start."""


@dataclass
class Process:
    """A child in a session of its own, so that Ctrl-C reaches only the supervisor, which stops it in order.

    vital: without it the portal ends; others are tried for ever, so that people can still sign in and read.
    """

    name: str
    command: list[str]
    vital: bool = False
    popen: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    short_lives: int = field(default=0)
    not_before: float = 0.0

    def start(self) -> None:
        self.started = time.monotonic()
        self.popen = subprocess.Popen(  # noqa: S603 (the commands are `processes` below)
            self.command, cwd=settings.BASE_DIR, start_new_session=True
        )

    def ended(self) -> bool:
        return self.popen is not None and self.popen.poll() is not None

    def keep(self) -> None:
        """Start again after an unwanted end, later and later if that keeps happening.

        Raises GaveUpError where the portal is nothing without it.
        """
        if self.popen is None and time.monotonic() >= self.not_before:
            self.start()
        elif self.ended():
            self._end_group()
            self.popen = None
            self._pause()

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
        if self.popen is not None and self.popen.poll() is None:
            self.popen.terminate()

    def wait(self, until: float) -> None:
        """Wait for the end; what still runs at the deadline is killed and its job comes back at the next start."""
        if self.popen is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(max(0.0, until - time.monotonic()))
        self._end_group()
        self.popen.wait()

    def _end_group(self) -> None:
        """Kill whatever is left of the process and its own children: they would keep the port, or a job."""
        if self.popen is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)


def processes(host: str, port: int, workers: int) -> list[Process]:
    """The processes of an embedded portal: a web server, a worker for each job at a time, and the sweep.

    Each worker does its job itself. In a pool of one worker's own processes all take from one queue under one lock,
    which a process that is killed while it waits would hold for ever.
    """
    python = sys.executable
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    web = [python, "-m", "gunicorn", "dpportal.wsgi", "--bind", address, "--workers", "2", "--threads", "4"]
    web += ["--timeout", "120", "--log-level", "warning"]
    worker = [
        python,
        "-W",
        ROOT_WARNING,
        "-m",
        "celery",
        "--quiet",
        "-A",
        "dpportal",
        "worker",
        "--pool",
        "solo",
    ]
    worker += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    sweep = [python, "manage.py", "sweep"]
    slots = [
        Process(f"worker {slot}", [*worker, "--hostname", f"worker-{slot}@%h"])
        for slot in range(1, workers + 1)
    ]
    return [Process("web server", web, vital=True), *slots, Process("sweep", sweep)]


def supervise(children: list[Process], ready: Callable[[], None]) -> None:
    """Run the children until interrupted; `ready` is called once after they started. Stops them all at the end."""
    try:
        for child in children:
            child.start()
        ready()
        while True:
            for child in children:
                child.keep()
            time.sleep(0.5)
    finally:
        stop(children)


def stop(children: list[Process]) -> None:
    for child in children:
        child.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for child in children:
        child.wait(until)
