"""Which jobs wait in which queue, and who listens."""

from __future__ import annotations

import pytest

from dpportal.celery import app
from dpportal.running import queues
from dpportal.running.embedded import processes
from dpportal.running.jobs import kinds
from dpportal.streams.models import StreamJob
from dpportal.streams.tasks import task_of

RELEASE, UPLOAD = "dpportal.releases.tasks.run_release", "dpportal.datasets.tasks.convert_upload"


def goes_to(task: str) -> str:
    return app.amqp.router.route({}, task)["queue"].name


def listens_to(workers: int) -> list[tuple[str, ...]]:
    """The queues of each worker of an embedded portal."""
    return [p.run.args[1] for p in processes("127.0.0.1", 8000, workers) if p.name.startswith("worker")]


def test_uploads_files_of_records_and_simulations_wait_apart_from_all_else():
    assert (goes_to(RELEASE), goes_to(UPLOAD)) == (queues.WORK, queues.CONVERSIONS)
    assert goes_to(task_of(StreamJob.Kind.RECORDS).name) == queues.CONVERSIONS
    assert goes_to("dpportal.releases.tasks.simulate") == queues.CONVERSIONS
    assert {goes_to(task_of(kind).name) for kind in ("open", "counts")} == {queues.WORK}


def test_a_worker_that_is_told_nothing_listens_to_both():
    assert set(app.amqp.queues.consume_from) == set(queues.NAMES)


@pytest.mark.django_db
def test_every_job_is_in_one_queue(requested, stream_jobs, simulation):
    for kind in kinds():
        every = set(kind._base_manager.values_list("pk", flat=True))
        parts = [set(kind.in_queues([name]).values_list("pk", flat=True)) for name in queues.NAMES]
        assert parts[0] | parts[1] == every == set(kind.in_queues(queues.NAMES).values_list("pk", flat=True))
        assert not parts[0] & parts[1]


@pytest.fixture
def stream_jobs(dataset):
    from dpportal.streams.models import Stream

    stream = Stream.objects.create(dataset=dataset, created_by=dataset.owner, name="Arrivals")
    for kind in StreamJob.Kind:
        StreamJob.objects.create(stream=stream, kind=kind, created_by=dataset.owner, state="done")


@pytest.fixture
def simulation(db):
    from dpportal.releases.models import Simulation

    Simulation.objects.create(key="a", question={}, state="done")


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
