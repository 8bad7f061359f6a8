"""Celery's way in; an id and nothing else."""

from uuid import UUID

from celery import shared_task

from dpportal.datasets.conversion import convert, give_up
from dpportal.datasets.fitting import give_up as give_up_fit
from dpportal.datasets.fitting import look
from dpportal.datasets.models import Conversion, Fit
from dpportal.running import jobs
from dpportal.running.turns import in_turn, next_of

TO_OWNER = "dataset__owner_id"


@shared_task
def convert_upload(dataset_id: str) -> None:
    in_turn(Conversion, UUID(dataset_id), TO_OWNER, _convert, singly=True)


def _convert(dataset_id: UUID) -> bool:
    """Read one file; the same person's next one, whose message may have come meanwhile, gets another."""
    was_there = convert(dataset_id)
    if was_there and (following := next_of(Conversion, dataset_id, TO_OWNER)) is not None:
        convert_upload.delay(str(following))
    return was_there


@shared_task
def look_at_fit(dataset_id: str) -> None:
    look(UUID(dataset_id))


def sweep() -> None:
    """Bring back jobs whose worker or message was lost."""
    jobs.sweep(Conversion, lambda pk: convert_upload.delay(str(pk)), give_up)
    jobs.sweep(Fit, lambda pk: look_at_fit.delay(str(pk)), give_up_fit)
