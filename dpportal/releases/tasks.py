"""Celery's way in; an id and nothing else."""

from functools import partial
from uuid import UUID

from celery import shared_task

from dpportal.releases.execution import execute, give_up
from dpportal.releases.models import Optimisation, ReleaseJob, Simulation
from dpportal.releases.products.microdata import simulations
from dpportal.releases.products.queries import strategies
from dpportal.running import jobs, questions
from dpportal.running.turns import in_turn


@shared_task
def run_release(release_id: str) -> None:
    in_turn(ReleaseJob, UUID(release_id), "release__dataset__owner_id", execute)


@shared_task
def find_strategy(key: str) -> None:
    strategies.work_out(key)


@shared_task
def simulate(key: str) -> None:
    simulations.work_out(key)


def sweep() -> None:
    """Bring back jobs whose worker or message was lost."""
    jobs.sweep(Optimisation, find_strategy.delay, partial(questions.give_up, Optimisation))
    jobs.sweep(Simulation, simulate.delay, partial(questions.give_up, Simulation))
    jobs.sweep(ReleaseJob, lambda pk: run_release.delay(str(pk)), give_up)
