"""Celery's way in; an id and nothing else."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.db.models import Q

from dpportal.running import jobs
from dpportal.running.turns import in_turn
from dpportal.streams import downloads
from dpportal.streams.models import StreamJob
from dpportal.streams.working import execute, give_up, void_left

TO_OWNER = "stream__dataset__owner_id"
COUNTING = Q(kind=StreamJob.Kind.RECORDS)


@shared_task
def run_stream_job(job_id: str) -> None:
    in_turn(StreamJob, UUID(job_id), TO_OWNER, execute, ~COUNTING)


@shared_task
def count_records(job_id: str) -> None:
    """The same for a file of records, in the queue of what is read."""
    in_turn(StreamJob, UUID(job_id), TO_OWNER, execute, COUNTING)


def task_of(kind: str) -> Any:
    """The task that does jobs of this kind."""
    return count_records if kind == StreamJob.Kind.RECORDS else run_stream_job


def resume_on_hold(dataset_id: UUID) -> None:
    """Go on with the jobs of a dataset's streams that waited for an administrator."""
    held = StreamJob.objects.filter(stream__dataset=dataset_id)
    jobs.resume_on_hold(held, lambda pk: _task_for(pk).delay_on_commit(str(pk)))


def sweep() -> None:
    """Bring back jobs whose worker or message was lost, and have files written for the periods that came."""
    void_left()
    jobs.sweep(StreamJob, _hint, give_up)
    downloads.sweep()


def _hint(job_id: UUID) -> None:
    _task_for(job_id).delay(str(job_id))


def _task_for(job_id: UUID) -> Any:
    return task_of(StreamJob.objects.values_list("kind", flat=True).get(pk=job_id))
