"""A world with a clerk, a sweep and workers, and what can be seen of a release from outside."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from dpportal.jobs.process_activity import is_stopped
from tests.dpportal.crashes.namespace import Namespace
from tests.dpportal.world import World

PATIENCE_SECONDS = 300.0
CELERY_OPTIONS = ["--loglevel", "WARNING"]
CELERY_OPTIONS += ["--without-gossip", "--without-mingle", "--without-heartbeat"]

SEVERAL = """
import subprocess, sys
number, *command = sys.argv[1:]
started = [subprocess.Popen([*command, "--hostname", f"worker-{i}@%h"]) for i in range(int(number))]
for process in started:
    process.wait()
"""


@dataclass(frozen=True)
class Seen:
    """Everything the database says about one release, and where its files lie, by name."""

    release: dict[str, Any]
    job: dict[str, Any]
    charge: dict[str, Any]
    artifacts: dict[str, str]


class Stage:
    """Where workers are killed. The sweep runs all the time, as it does in a portal."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.trace = world.folder / "trace"
        self.clerk = world.start("-m", "tests.dpportal.crashes.clerk", pipes=True)
        self.dataset = UUID(self.ask("prepare"))
        world.start("manage.py", "sweep")

    def ask(self, *question: Any) -> Any:
        """Let the clerk do something."""
        assert self.clerk.stdin is not None and self.clerk.stdout is not None
        self.clerk.stdin.write(json.dumps(question).encode() + b"\n")
        self.clerk.stdin.flush()
        return json.loads(self.clerk.stdout.readline())

    def worker(self, processes: int = 1, queues: str = "", **extra: str) -> subprocess.Popen[bytes]:
        """A worker as every portal has it. queues: to which it listens, if not to all; extra: of its environment."""
        return self._celery("dpportal", processes, queues, **extra)

    def tracing_worker(self, processes: int) -> subprocess.Popen[bytes]:
        """A worker that does no harm and writes down which jobs it left."""
        return self._celery("tests.dpportal.crashes.saboteur", processes, SABOTAGE_TRACE=str(self.trace))

    def worker_with_a_full_disk(self, full: Path) -> subprocess.Popen[bytes]:
        """A worker whose disk has no space as long as there is this file."""
        trace, app = str(self.trace), "tests.dpportal.crashes.saboteur"
        return self._celery(app, 1, SABOTAGE_TRACE=trace, SABOTAGE_FULL=str(full))

    def saboteur(
        self,
        point: str,
        release: UUID,
        number: signal.Signals = signal.SIGKILL,
        *,
        ahead: int = 0,
        within: Namespace | None = None,
    ) -> subprocess.Popen[bytes]:
        """A worker that sends itself a signal at that point of that release's job; its clock is seconds ahead.

        within: the network in which it lives.
        """
        sabotage = {**self._sabotage(point, release, number), "SABOTAGE_AHEAD": str(ahead)}
        return self._celery("tests.dpportal.crashes.saboteur", 1, within=within, **sabotage)

    def kept_saboteur(self, point: str, release: UUID, number: signal.Signals) -> subprocess.Popen[bytes]:
        """The same kept as its kind of portal keeps workers: in an embedded one by the supervisor."""
        if self.world.broker:
            return self.saboteur(point, release, number)
        command = ["-m", "tests.dpportal.crashes.supervised", *CELERY_OPTIONS]
        return self.world.start(*command, extra=self._sabotage(point, release, number))

    def _sabotage(self, point: str, release: UUID, number: signal.Signals) -> dict[str, str]:
        return {
            "SABOTAGE_POINT": point,
            "SABOTAGE_RELEASE": str(release),
            "SABOTAGE_SIGNAL": str(int(number)),
            "SABOTAGE_MARK": str(self.mark(release)),
            "SABOTAGE_TRACE": str(self.trace),
        }

    def mark(self, release: UUID) -> Path:
        """The file that is there once the saboteur has struck."""
        return self.world.folder / f"struck-{release}"

    def wait_until_stopped(self, sleeper: subprocess.Popen[bytes], release: UUID) -> None:
        """Until a saboteur has stopped itself: one that is woken between its mark and its stop would sleep for ever."""
        wait_until(self.mark(release).exists, "the worker marks that it stops itself")
        wait_until(lambda: is_stopped(sleeper.pid), "the worker stops itself")

    def times_left(self, release: UUID) -> int:
        """How often a tracing worker or a saboteur came to the end of that release's job."""
        return self.trace.read_text().split().count(str(release)) if self.trace.exists() else 0

    def eraser(self, dataset: UUID, point: str) -> subprocess.Popen[bytes]:
        """A process that erases a dataset's records and kills itself at that point."""
        return self.world.start("-m", "tests.dpportal.crashes.eraser", str(dataset), point)

    def _celery(
        self, app: str, processes: int, queues: str = "", within: Namespace | None = None, **extra: str
    ) -> subprocess.Popen[bytes]:
        """Servers have a pool of processes; an embedded portal has workers that do their jobs themselves."""
        entering = within.entering if within else []
        command = [*entering, "-m", "celery", "--quiet", "-A", app, "worker", *CELERY_OPTIONS]
        command += ["--queues", queues, "--hostname", f"{queues}@%h"] if queues else []
        if self.world.broker:
            pool = ["--pool", "prefork", "--concurrency", str(processes)]
            return self.world.start(*command, *pool, extra=extra)
        solo = [*command, "--pool", "solo"]
        if processes == 1:
            return self.world.start(*solo, extra=extra)
        # Of one group, so that they are killed together.
        return self.world.start("-c", SEVERAL, str(processes), sys.executable, *solo, extra=extra)

    def see(self, release: UUID) -> Seen:
        [release_row] = self._table("releases_release", "id", release)
        [job] = self._table("releases_releasejob", "release_id", release)
        [charge] = self._table("budgets_ledgerentry", "key", release)
        artifacts = self._table("releases_artifact", "release_id", release)
        return Seen(release_row, job, charge, {a["name"]: a["stored"] for a in artifacts})

    def conversion(self, dataset: UUID) -> tuple[str, str]:
        """State of a dataset, and of the job that reads it."""
        [row] = self._table("datasets_dataset", "id", dataset)
        [job] = self._table("datasets_conversion", "dataset_id", dataset)
        return row["state"], job["state"]

    def budget(self) -> tuple[int, int]:
        """(spent, reserved) in millionths."""
        [row] = self._table("budgets_budget", "dataset_id", self.dataset)
        return row["spent"], row["reserved"]

    def files(self) -> dict[str, str]:
        """The digest of every stored file."""
        stored = self.world.files
        return {
            str(path.relative_to(stored)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in stored.rglob("*")
            if path.is_file()
        }

    def _table(self, table: str, column: str, value: UUID) -> list[dict[str, Any]]:
        names, rows = self.world.select(f"SELECT * FROM {table} WHERE {column} = %s", value)
        return [dict(zip(names, row, strict=True)) for row in rows]


def wait_until(happened: Callable[[], bool], what: str, *, seconds: float = PATIENCE_SECONDS) -> None:
    """Look again and again. Raises TimeoutError with `what` if it does not happen."""
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds:g} s until {what}")
        time.sleep(0.1)
