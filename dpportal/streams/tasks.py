"""Celery's way in; an id and nothing else."""

from uuid import UUID

from celery import shared_task

from dpportal.running import jobs
from dpportal.streams.models import StreamJob
from dpportal.streams.working import execute, give_up


@shared_task
def run_stream_job(job_id: str) -> None:
    execute(UUID(job_id))


def sweep() -> None:
    """Bring back jobs whose worker or message was lost."""
    jobs.sweep(StreamJob, lambda pk: run_stream_job.delay(str(pk)), give_up)
