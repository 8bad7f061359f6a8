"""A process that opens streams, sends them files of periods, and tells what is stored. Answers JSON lines.

What it tells holds true counts and noise: it is for a test, which knows the counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import django

django.setup()

from django.core.files.base import ContentFile  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from dpportal.accounts.models import Role  # noqa: E402
from dpportal.streams import execution, job_execution, services, vault  # noqa: E402
from dpportal.streams.execution import Update  # noqa: E402
from dpportal.streams.models import Period, Stream, StreamJob  # noqa: E402
from tests.dpportal import building  # noqa: E402
from tests.dpportal.streams.building import open_stream  # noqa: E402
from tests.dpportal.streams.true_sums import true_sums  # noqa: E402


def prepare(mechanisms: list[str], counts: list[int]) -> list[str]:
    """Open a stream of each, publish its first period, and queue a file with all periods; returns the jobs."""
    curator = building.person(f"curator of streams {uuid4()}", Role.CURATOR)
    dataset = building.granted(building.stored_dataset(curator), curator, "100")
    opened = [open_stream(dataset, mechanism=name, horizon=len(counts) + 2) for name in mechanisms]
    return [send(stream, counts) for stream in opened]


def send(stream: Stream, counts: list[int]) -> str:
    execution.publish(stream.pk, [Update(1, (counts[0],), Period.Source.TYPED)])
    lines = "".join(f"{index},{count}\n" for index, count in enumerate(counts, 1))
    file = ContentFile(f"period,count\n{lines}".encode(), "counts.csv")
    return str(services.queue_counts(stream, file, {}, stream.created_by, confirmed=True).pk)


def length(mechanism: str, counts: list[int], batch: int) -> int:
    """How many statements the job of such a file runs if nothing disturbs it."""
    [job] = prepare([mechanism], counts)
    job_execution.BATCH = batch
    counter = Counter()
    with connection.execute_wrapper(counter):
        job_execution.STREAM_JOBS.run(UUID(job))
    assert see(job)["job"] == "done"
    return counter.number


class Counter:
    """Counts the statements that the job's own connection runs."""

    number = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.number += 1
        return execute(*arguments)


def see(job_id: str) -> dict[str, Any]:
    """Everything that is stored of a job's stream, its secrets opened."""
    job = StreamJob.objects.select_related("stream").get(pk=job_id)
    state, version = vault.read(job.stream)
    periods = job.stream.periods.all()
    return {
        "job": job.state,
        "failure": job.failure,
        "published": [[p.index, p.released[0], str(p.published_at)] for p in periods],
        "sums": [sums[0] for sums in true_sums(periods) or []],
        "state": {"period": state.period, **state.numbers},
        "version": version,
    }


def let_leases_end() -> None:
    """As if time had passed since the workers died."""
    past = timezone.now() - timedelta(hours=1)
    StreamJob.objects.filter(state="running").update(lease_until=past, hinted_at=past)


DEEDS: dict[str, Any] = {f.__name__: f for f in (prepare, length, see, let_leases_end)}

if __name__ == "__main__":
    for line in sys.stdin:
        deed, *arguments = json.loads(line)
        print(json.dumps(DEEDS[deed](*arguments)), flush=True)
