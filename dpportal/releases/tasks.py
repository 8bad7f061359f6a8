"""Celery's way in; an id and nothing else."""

from uuid import UUID

from celery import shared_task

from dpportal import jobs
from dpportal.releases.execution import execute, give_up
from dpportal.releases.models import ReleaseJob


@shared_task
def run_release(release_id: str) -> None:
    execute(UUID(release_id))


def sweep() -> None:
    """Bring back release jobs whose worker or message was lost."""
    jobs.sweep(ReleaseJob, lambda pk: run_release.delay(str(pk)), give_up)
