"""Fair scheduling: of the people whose jobs wait, the one whose last job began longest ago is next."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from dpportal.jobs.claims import Job, JobKey, JobState, waiting

# Other workers take jobs meanwhile. After so many lost races the job of the message itself runs.
TRIES = 5
ALL = Q()


def run_fairly(
    model: type[Job],
    pk: JobKey,
    to_owner: str,
    work: Callable[[JobKey], bool],
    among: Q = ALL,
    *,
    singly: bool = False,
) -> None:
    """Do one waiting job for a message about the job `pk`: the next job by turns of owners.

    There is a message for every job, so all jobs run, and one person's many jobs do not hold up another's. to_owner:
    the names that lead from a job to the id of its owner. work: does a job, and says whether it was there to be done.
    among: the jobs whose messages come in this way. singly: one person's jobs run one at a time. A message whose
    owner's job runs then does nothing, so whoever ends a job sends another one for what `next_of` names.
    """
    for _ in range(TRIES):
        chosen = _oldest_of_next_owner(model, to_owner, among, singly=singly)
        if chosen is None and singly and _is_busy(model, pk, to_owner, among):
            return
        if work(chosen or pk) or chosen in (None, pk):
            return
    if not (singly and _is_busy(model, pk, to_owner, among)):
        work(pk)


def next_of(model: type[Job], pk: JobKey, to_owner: str) -> JobKey | None:
    """The oldest waiting job of the owner of the job `pk`; None if none waits."""
    owner = model._base_manager.filter(pk=pk).values(to_owner)[:1]
    return _oldest(model._base_manager.filter(waiting(), **{to_owner: owner}))


def _oldest_of_next_owner(model: type[Job], to_owner: str, among: Q, *, singly: bool) -> JobKey | None:
    """The oldest job of the owner whose turn it is; None if none waits."""
    due: QuerySet[Job] = model._base_manager.filter(among, waiting())
    busy = set(running(model, among).values_list(to_owner, flat=True)) if singly else set()
    owners = [owner for owner in due.values_list(to_owner, flat=True).distinct() if owner not in busy]
    if not owners:
        return None
    begun = model._base_manager.filter(among, started_at__isnull=False, **{f"{to_owner}__in": owners})
    last = dict(begun.order_by().values_list(to_owner).annotate(last=Max("started_at")))
    owner = min(owners, key=lambda each: last[each].timestamp() if each in last else 0.0)
    return _oldest(due.filter(**{to_owner: owner}))


def _oldest(due: QuerySet[Job]) -> JobKey | None:
    return due.order_by("queued_at").values_list("pk", flat=True).first()


def _is_busy(model: type[Job], pk: JobKey, to_owner: str, among: Q) -> bool:
    """Whether another job of the same owner runs."""
    owner = model._base_manager.filter(pk=pk).values(to_owner)[:1]
    return running(model, among).exclude(pk=pk).filter(**{to_owner: owner}).exists()


def running(model: type[Job], among: Q = ALL) -> QuerySet[Job]:
    """Jobs with a living worker. A job whose worker died counts as waiting."""
    return model._base_manager.filter(among, state=JobState.RUNNING, lease_until__gte=Now())
