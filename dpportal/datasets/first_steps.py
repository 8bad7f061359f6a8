"""The first three steps of a curator: a finished example, a table of their own, a budget for it."""

from __future__ import annotations

from dataclasses import dataclass

from dpportal.accounts.models import User
from dpportal.datasets import demo_marker
from dpportal.datasets.models import Dataset
from dpportal.publications.draft import PUBLIC, Publication


@dataclass(frozen=True)
class FirstSteps:
    """Where somebody stands: `own` is their newest dataset, None before there is one.

    examples: a release and a running count that are public, as far as there are any. is_asked: whether a budget was
    asked for, or granted without that.
    """

    examples: list[Publication]
    own: Dataset | None
    is_asked: bool

    @classmethod
    def of(cls, person: User) -> FirstSteps:
        """What a person did so far; the demonstration is nobody's own."""
        own = Dataset.objects.filter(owner=person).exclude(pk=demo_marker.DATASET)
        asked = own.exclude(budgets=None) | own.exclude(budget_requests=None)
        return cls(_examples(), own.order_by("-created_at").first(), asked.exists())


def _examples() -> list[Publication]:
    demonstration = Dataset.objects.filter(pk=demo_marker.DATASET).first()
    if demonstration is None:
        return []
    kinds = (demonstration.releases, demonstration.streams)
    firsts = [kind.filter(PUBLIC).order_by("published_at").first() for kind in kinds]
    return [example for example in firsts if example is not None]
