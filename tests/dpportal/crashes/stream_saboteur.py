"""A Celery worker whose processes kill themselves before or after the n-th statement of a stream's job, once for each.

Started as `celery -A tests.dpportal.crashes.stream_saboteur worker`, with a file that says for each job where.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402

from dpportal.celery import app  # noqa: E402
from dpportal.jobs import runner  # noqa: E402
from dpportal.streams import job_execution  # noqa: E402

__all__ = ["app"]

FOLDER = Path(os.environ["SABOTAGE_FOLDER"])
PLACES: dict[str, tuple[str, int]] = json.loads((FOLDER / "places.json").read_text())


class Striker:
    """Counts the statements that the job's own connection runs, and kills the process at one of them."""

    def __init__(self, job: str) -> None:
        self.mark = FOLDER / f"struck-{job}"
        self.when, self.number = PLACES[job]
        self.count = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.count += 1
        if self.when == "before":
            self.strike()
        result = execute(*arguments)
        if self.when == "after":
            self.strike()
        return result

    def strike(self) -> None:
        if self.count == self.number:
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def sabotaged(job_id: Any) -> bool:
    striker = Striker(str(job_id)) if str(job_id) in PLACES else None
    with connection.execute_wrapper(striker) if striker else nullcontext():
        return honest(job_id)


def by_its_own_message(
    _model: Any, job_id: Any, _to_owner: str, work: Callable[[Any], bool], _among: Any, *, singly: bool
) -> None:
    """Each job dies at its own place, so none is done in another's turn."""
    work(job_id)


honest = job_execution.STREAM_JOBS.run
job_execution.STREAM_JOBS.run = sabotaged
runner.run_fairly = by_its_own_message
job_execution.BATCH = 2
