"""Which jobs wait in which queue, and who listens."""

from __future__ import annotations

import pytest

from dpportal.celery import app
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.jobs import queues
from dpportal.jobs.embedded import processes
from dpportal.jobs.memoised import StoredQuestion
from dpportal.jobs.runner import kinds, run_job
from dpportal.releases.execution import RELEASES
from dpportal.releases.products.microdata.simulations import SIMULATIONS
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import StreamJob

pytestmark = pytest.mark.django_db


def listens_to(workers: int) -> list[tuple[str, ...]]:
    """The queues of each worker of an embedded portal."""
    return [p.run.args[1] for p in processes("127.0.0.1", 8000, workers) if p.name.startswith("worker")]


def test_uploads_files_of_records_and_simulations_wait_apart_from_all_else(requested, stream_jobs):
    assert RELEASES.queue_of(requested.pk) == queues.WORK
    assert CONVERSIONS.queue_of(requested.dataset_id) == SIMULATIONS.queue_of("a") == queues.CONVERSIONS
    of_streams = {job.kind: STREAM_JOBS.queue_of(job.pk) for job in StreamJob.objects.all()}
    assert of_streams == {"records": queues.CONVERSIONS, "open": queues.WORK, "counts": queues.WORK}


def test_a_message_names_kind_and_job_and_goes_where_the_job_waits(requested, monkeypatch):
    sent = []
    monkeypatch.setattr(run_job, "apply_async", lambda arguments, queue: sent.append((arguments, queue)))
    RELEASES.hint(requested.pk)
    SIMULATIONS.hint("a")
    release = (("ReleaseJob", str(requested.pk)), queues.WORK)
    assert sent == [release, (("Simulation", "a"), queues.CONVERSIONS)]


def test_a_worker_that_is_told_nothing_listens_to_all():
    assert set(app.amqp.queues.consume_from) == set(queues.NAMES)


def test_every_job_is_in_one_queue(requested, stream_jobs, simulation):
    for kind in kinds():
        every = set(kind.jobs().values_list("pk", flat=True))
        parts = [set(kind.in_queues([name]).values_list("pk", flat=True)) for name in queues.NAMES]
        assert every == set.union(*parts) == set(kind.in_queues(queues.NAMES).values_list("pk", flat=True))
        assert len(every) == sum(map(len, parts))


@pytest.fixture
def stream_jobs(dataset):
    from dpportal.streams.models import Stream

    stream = Stream.objects.create(dataset=dataset, created_by=dataset.owner, name="Arrivals")
    for kind in StreamJob.Kind:
        StreamJob.objects.create(stream=stream, kind=kind, created_by=dataset.owner, state="done")


@pytest.fixture
def simulation(db):
    StoredQuestion.objects.create(key="a", answered_by=SIMULATIONS.name, question={}, state="done")


@pytest.mark.parametrize(
    ("workers", "conversions"), [(1, [True]), (2, [False, True]), (3, [False, True, True])]
)
def test_of_several_embedded_workers_one_takes_no_conversions(workers, conversions):
    found = listens_to(workers)
    assert [queues.CONVERSIONS in names for names in found] == conversions
    assert all(queues.WORK in names for names in found)


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_of_several_embedded_workers_two_read_files(workers):
    """So that one file that takes long keeps no other person's waiting."""
    takes = [
        p.run.args[1]
        for p in processes("127.0.0.1", 8000, workers)
        if p.name.startswith(("worker", "reader"))
    ]
    assert sum(queues.CONVERSIONS in names for names in takes) == max(2, workers - 1)
