"""A Celery worker that kills or stops itself, its whole process group, at one point of one release's job, once.

Its clock may be ahead, and its disk full as long as there is a certain file.

Started as `celery -A tests.dpportal.crashes.saboteur worker`. Without a point in the environment it works to the
end. After each job it has left it adds the release's id to the trace file.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.utils import timezone

django.setup()

from dpportal.budgets import ledger  # noqa: E402
from dpportal.celery import app  # noqa: E402
from dpportal.datasets import records  # noqa: E402
from dpportal.jobs import claims  # noqa: E402
from dpportal.platform import storage  # noqa: E402
from dpportal.releases import execution  # noqa: E402
from dpportal.tables import counting  # noqa: E402
from dpportal.value_choices.execution import CHOICES  # noqa: E402
from tests.dpportal.crashes import points  # noqa: E402

__all__ = ["app"]

Call = Callable[..., Any]
POINT = os.environ.get("SABOTAGE_POINT", "")
SIGNAL = signal.Signals(int(os.environ.get("SABOTAGE_SIGNAL", signal.SIGKILL)))
RELEASE = os.environ.get("SABOTAGE_RELEASE", "")
MARK = Path(os.environ.get("SABOTAGE_MARK", os.devnull))
TRACE = Path(os.environ["SABOTAGE_TRACE"])

AHEAD = timedelta(seconds=float(os.environ.get("SABOTAGE_AHEAD", 0)))
FULL = os.environ.get("SABOTAGE_FULL", "")

current = ""


def ahead(now: Call, by: Any) -> Call:
    return lambda: now() + by


def strike() -> None:
    """Send the signal to the worker and its pool, if this is the release meant and it was not sent before."""
    if current != RELEASE:
        return
    try:
        os.close(os.open(MARK, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.killpg(os.getpgid(0), SIGNAL)


def before(function: Call) -> Call:
    def struck(*args: Any, **kwargs: Any) -> Any:
        strike()
        return function(*args, **kwargs)

    return struck


def after(function: Call) -> Call:
    def struck(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        strike()
        return result

    return struck


def traced(function: Call) -> Call:
    """Know the release in work, and write down that its job was left."""

    def execute(release_id: Any) -> None:
        global current
        current = str(release_id)
        function(release_id)
        with TRACE.open("a") as trace:
            trace.write(f"{release_id}\n")

    return execute


# Where the production code is touched: a module or a kind of job, the name in it, whether to strike before or after.
PLACES: dict[str, tuple[Any, str, Callable[[Call], Call]]] = {
    points.BEFORE_CLAIM: (execution.RELEASES, "run", before),
    points.AFTER_CLAIM: (claims, "claim", after),
    points.ENTITLED: (ledger, "require_complete", after),
    points.COUNTING: (counting, "counted_rows", after),
    points.COUNTED: (records, "keep_counts", before),
    points.BEFORE_COMMIT: (ledger, "spend", after),
    points.AFTER_COMMIT: (execution, "commit", after),
    points.BUNDLING: (storage, "keep_all", after),
    points.PUBLISHED: (execution, "finish", after),
}


def only_of_the_bundle(function: Call) -> Call:
    """Strike after the first file of the bundle was stored, and after no other file."""

    def keep_all(files: Mapping[str, Path]) -> None:
        for name, path in files.items():
            function({name: path})
            if "/bundle/" in name:
                strike()

    return keep_all


if AHEAD:
    time.time = ahead(time.time, AHEAD.total_seconds())
    timezone.now = ahead(timezone.now, AHEAD)
if FULL:
    storage.is_full = lambda _more=0: Path(FULL).exists()
if POINT:
    module, name, when = PLACES[POINT]
    how = only_of_the_bundle if POINT == points.BUNDLING else when
    setattr(module, name, how(getattr(module, name)))
execution.RELEASES.run = traced(execution.RELEASES.run)
CHOICES.run = traced(CHOICES.run)
