"""The first three steps of a curator: a finished example, a table of their own, a budget for it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from dpportal.accounts.models import User
from dpportal.datasets import demo_marker
from dpportal.datasets.models import Dataset
from dpportal.publications.draft import PUBLIC, Publication

# What is not read yet, or was tried and left nothing to publish from.
WITHOUT_TABLE = (Dataset.State.CONVERTING, *Dataset.NOT_LOADED, Dataset.State.ERASED)


@dataclass(frozen=True)
class FirstSteps:
    """Where somebody stands: `own` is their newest dataset that has a table or counts, None before there is one.

    has_requests: whether a budget was asked for, or granted without that.
    """

    own: Dataset | None
    has_requests: bool

    @classmethod
    def of(cls, person: User) -> FirstSteps:
        """What a person did so far; the demonstration is nobody's own."""
        own = (
            Dataset.objects.filter(owner=person)
            .exclude(pk=demo_marker.DATASET)
            .exclude(state__in=WITHOUT_TABLE)
        )
        has_requests = Q(budgets__isnull=False) | Q(budget_requests__isnull=False)
        return cls(own.order_by("-created_at").first(), own.filter(has_requests).exists())

    @property
    def examples(self) -> list[Publication]:
        """A release and a running count of the demonstration that are public, as far as there are any."""
        demonstration = Dataset(pk=demo_marker.DATASET)
        kinds = (demonstration.releases, demonstration.streams)
        firsts = [kind.filter(PUBLIC).order_by("published_at").first() for kind in kinds]
        return [example for example in firsts if example is not None]
