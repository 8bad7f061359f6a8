"""Who is next: of people whose jobs wait, the one whose last job began longest ago."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Max, Q, QuerySet

from dpportal.running.jobs import Job, waiting

# Other workers take jobs meanwhile; after so many that were gone, the job of the message itself is done.
TRIES = 5
ALL = Q()


def in_turn(model: type[Job], pk: Any, to_owner: str, work: Callable[[Any], bool], among: Q = ALL) -> None:
    """Do one waiting job for a message about the job `pk`: the one whose turn it is.

    There is a message for every job, so all are done, but one person's many do not keep another's waiting. to_owner:
    the names that lead from a job to the id of its owner. work: does a job, and says whether it was there to be done.
    among: the jobs whose messages come in this way.
    """
    for _ in range(TRIES):
        chosen = _next(model, to_owner, among) or pk
        if work(chosen) or chosen == pk:
            return
    work(pk)


def _next(model: type[Job], to_owner: str, among: Q) -> Any:
    """The oldest job of the owner whose turn it is; None if none waits."""
    due: QuerySet[Job] = model._base_manager.filter(among, waiting())
    owners = list(due.values_list(to_owner, flat=True).distinct())
    if not owners:
        return None
    begun = model._base_manager.filter(among, started_at__isnull=False, **{f"{to_owner}__in": owners})
    last = dict(begun.order_by().values_list(to_owner).annotate(last=Max("started_at")))
    owner = min(owners, key=lambda each: last[each].timestamp() if each in last else 0.0)
    return due.filter(**{to_owner: owner}).order_by("queued_at").values_list("pk", flat=True).first()
