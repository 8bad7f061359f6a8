"""What the bell says of datasets: jobs that ended, and what others share."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, Right, Share
from dpportal.jobs.announcements import announced


def ended_jobs(person: User) -> list[QuerySet[Any]]:
    """The ended jobs, by kind, that this person asked for on datasets that they may still release from."""
    datasets = Dataset.objects.open_to(person, Right.RELEASE)
    return [kind.ended(person, datasets) for kind in announced()]


def shared_with(person: User) -> QuerySet[Share]:
    """The rights that owners gave this person, the newest first."""
    return person.shares.select_related("dataset").order_by("-at")


def news(person: User) -> int:
    """How many of all these this person has not looked at."""
    if not person.is_curator:
        return 0
    return sum(rows.filter(seen=False).count() for rows in [*ended_jobs(person), shared_with(person)])
