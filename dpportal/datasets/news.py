"""What the bell says of datasets: jobs that ended."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, Right
from dpportal.running.jobs import announced


def ended_jobs(person: User) -> list[QuerySet[Any]]:
    """By kind of job: those that this person asked for, on datasets that they may still release from."""
    datasets = Dataset.objects.open_to(person, Right.RELEASE)
    return [kind.ended(person, datasets) for kind in announced()]


def news(person: User) -> int:
    """How many of them this person has not looked at."""
    if not person.is_curator:
        return 0
    return sum(ended.filter(seen=False).count() for ended in ended_jobs(person))
