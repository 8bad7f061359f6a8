"""Celery's way in; an id and nothing else."""

from uuid import UUID

from celery import shared_task

from dpportal import jobs
from dpportal.datasets.conversion import convert, give_up
from dpportal.datasets.models import Conversion


@shared_task
def convert_upload(dataset_id: str) -> None:
    convert(UUID(dataset_id))


def sweep() -> None:
    """Bring back conversions whose worker or message was lost."""
    jobs.sweep(Conversion, lambda pk: convert_upload.delay(str(pk)), give_up)
