"""Celery's way in; an id and nothing else."""

from functools import partial
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db.models import Q, QuerySet

from dpportal.datasets.models import Dataset
from dpportal.releases.execution import execute, give_up, void_left
from dpportal.releases.models import Optimisation, Release, ReleaseJob, Simulation
from dpportal.releases.products.microdata import simulations
from dpportal.releases.products.queries import strategies
from dpportal.releases.words import outdated
from dpportal.running import jobs, questions
from dpportal.running.clock import ago
from dpportal.running.jobs import JobState, from_the_beginning
from dpportal.running.turns import in_turn

# For so long a job's end is looked at again: words may have changed while it wrote.
JUST_ENDED_SECONDS = 600


@shared_task
def run_release(release_id: str) -> None:
    in_turn(ReleaseJob, UUID(release_id), "release__dataset__owner_id", execute)


@shared_task
def find_strategy(key: str) -> None:
    strategies.work_out(key)


@shared_task
def simulate(key: str) -> None:
    simulations.work_out(key)


def resume_on_hold(dataset_id: UUID) -> None:
    """Go on with the releases of a dataset that waited for an administrator."""
    held = ReleaseJob.objects.filter(release__dataset=dataset_id)
    jobs.resume_on_hold(held, lambda pk: run_release.delay_on_commit(str(pk)))


def write_anew(releases: QuerySet[Release]) -> None:
    """Have the files of those releases written again that say something else than their pages by now."""
    for release in outdated(releases):
        done = ReleaseJob.objects.filter(pk=release.pk, state=JobState.DONE)
        if done.update(**from_the_beginning()):
            run_release.delay_on_commit(str(release.pk))


def sweep_words() -> None:
    """Look at all releases: too many to do so every few seconds."""
    write_anew(Release.objects.all())


def dataset_saved(instance: Any, **_signal: Any) -> None:
    """Its name may be another one."""
    write_anew(Release.objects.filter(dataset=instance))


def description_saved(instance: Any, **_signal: Any) -> None:
    """It may say something else, or not be for readers any more."""
    write_anew(Release.objects.filter(dataset=instance.dataset_id))


def budget_charged(dataset: Dataset, **_signal: Any) -> None:
    """What else is promised of the same people stands in the files of releases under other promises, of copies too."""
    copies = list(dataset.copies)
    if copies or dataset.budgets.count() > 1:
        write_anew(Release.objects.filter(dataset__in=[dataset, *copies]))


def person_saved(instance: Any, update_fields: frozenset[str] | None, **_signal: Any) -> None:
    """Readers may know them by another name."""
    if update_fields is None or "display_name" in update_fields:
        write_anew(Release.objects.filter(created_by=instance))


def sweep() -> None:
    """Bring back jobs whose worker or message was lost, and files that say what was not said any more when they ended.

    Every other change is heard of; what was not, `sweep_words` finds.
    """
    write_anew(Release.objects.filter(Q(words="") | Q(job__finished_at__gt=ago(JUST_ENDED_SECONDS))))
    jobs.sweep(Optimisation, find_strategy.delay, partial(questions.give_up, Optimisation))
    jobs.sweep(Simulation, simulate.delay, partial(questions.give_up, Simulation))
    void_left()
    jobs.sweep(ReleaseJob, lambda pk: run_release.delay(str(pk)), give_up)
