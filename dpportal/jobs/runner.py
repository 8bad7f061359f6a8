"""The one runner of jobs: a kind declares its work and its messages; claims, limits and attempts are here."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import partial, reduce
from operator import or_
from typing import Any, ClassVar, Generic, TypeVar, final

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from dpportal.jobs import claims, event_log, queues
from dpportal.jobs.claims import Claim, Job, JobKey, JobState, LostClaimError, waiting
from dpportal.jobs.fair_scheduling import next_of, run_fairly, running
from dpportal.platform import storage
from dpportal.platform.sealing_faults import FileGoneFault

log = logging.getLogger(__name__)
J = TypeVar("J", bound=Job)
K = TypeVar("K", bound="AnyKind")


class JobKind(ABC, Generic[J]):
    """One kind of job: a subclass declares it, `register` takes its one instance, and then it is run and swept.

    name: its name in messages, log and metrics, which never changes. model: its rows; related: rows read with each.
    queues: which of the jobs wait in which queue; every job is in one. to_owner: the lookup from a job to the id of its
    owner, where owners take turns; singly: one owner's jobs run one at a time.
    too_long: the failure text of a job that took longer than a task may.
    refusals: exceptions after which no further attempt can help; their own text is for people.
    on_hold: exceptions after which the job waits for an administrator.
    """

    name: ClassVar[str]
    model: type[J]
    related: ClassVar[tuple[str, ...]] = ()
    queues: ClassVar[Mapping[str, Q]] = {queues.WORK: Q()}
    to_owner: ClassVar[str] = ""
    singly: ClassVar[bool] = False
    too_long: ClassVar[str]
    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    on_hold: ClassVar[tuple[type[Exception], ...]] = ()

    @abstractmethod
    def work(self, job: J, claim: Claim) -> None:
        """Do the job, and finish the claim."""

    def close(self, job: J, claim: Claim, reason: str) -> None:
        """End a job that failed, with a sentence for people."""
        claim.finish(JobState.FAILED, reason)

    def close_interrupted(self, job: J, claim: Claim, reason: str) -> None:
        """End a job whose workers died every time."""
        self.close(job, claim, reason)

    def waits_for_storage(self, job: J) -> bool:
        """Whether a job never fails because stored files could not be reached, but waits until they can.

        Every other job waits for minutes, and then fails with its last attempt.
        """
        return False

    def jobs(self) -> models.QuerySet[J]:
        """All of this kind, in whatever state."""
        return self.model._base_manager.all()

    @final
    def in_queues(self, names: Collection[str]) -> models.QuerySet[J]:
        """The jobs, in whatever state, whose messages go to one of these queues."""
        chosen = [among for name, among in self.queues.items() if name in names]
        return self.jobs().filter(reduce(or_, chosen)) if chosen else self.jobs().none()

    @final
    def due_in(self, names: Collection[str]) -> models.QuerySet[J]:
        """Those of them that a worker could begin now: where an owner's jobs run singly, not beside another one."""
        due = self.in_queues(names).filter(waiting())
        if not self.singly:
            return due
        return due.exclude(**{f"{self.to_owner}__in": running(self.model).values(self.to_owner)})

    @final
    def queue_of(self, pk: JobKey) -> str:
        """Where the job's messages go."""
        first, *others = self.queues
        rows = self.jobs().filter(pk=pk)
        return next((name for name in others if rows.filter(self.queues[name]).exists()), first)

    @final
    def hint(self, pk: JobKey) -> None:
        """Send a message that the job waits."""
        run_job.apply_async((self.name, str(pk)), queue=self.queue_of(pk))

    @final
    def hint_on_commit(self, pk: JobKey) -> None:
        """Send the message after this transaction commits; where the queue is down, the sweep sends another."""

        def send() -> None:  # Django's log of one that fails needs its name, which a partial has not
            self.hint(pk)

        transaction.on_commit(send, robust=True)

    def run(self, pk: JobKey) -> bool:
        """Do one job, if no other worker has it. Returns whether this worker claimed it.

        Errors end in the job's row, never in a message.
        """
        claim = claims.claim(self.model, pk, self.name)
        if claim is None:
            return False
        with suppress(LostClaimError):
            _attempt(self, claim)
        return True

    @final
    def give_up(self, pk: JobKey, reason: str) -> None:
        """Close a job whose workers died every time."""
        claim = claims.take_over_expired(self.model, pk, self.name)
        if claim is not None:
            self.close_interrupted(self.row(pk), claim, reason)

    @final
    def sweep(self) -> None:
        """Bring back jobs whose worker or message was lost."""
        claims.sweep(self.jobs(), self.hint, self.give_up)

    @final
    def row(self, pk: JobKey) -> J:
        """One job, with what is related to it."""
        return self.model._base_manager.select_related(*self.related).get(pk=pk)


AnyKind = JobKind[Any]
_kinds: dict[str, AnyKind] = {}
# Whether a job is being done here, so that one that begins now is done between its steps.
_works: ContextVar[bool] = ContextVar("a job is being done", default=False)


def register(kind: K) -> K:
    """Add a kind to those that are run, swept, counted and watched. Called once, where the kind is declared."""
    _kinds[kind.name] = kind
    return kind


def kinds() -> list[AnyKind]:
    """Every kind of job."""
    return list(_kinds.values())


@shared_task  # type: ignore[untyped-decorator]
def run_job(name: str, pk: str) -> None:
    """The one Celery task: a kind's name and an id. Where owners take turns, it may run another owner's job."""
    kind = _kinds[name]
    own = kind.model._meta.pk.to_python(pk)
    if kind.to_owner:
        among = kind.queues[kind.queue_of(own)]
        run_fairly(
            kind.model, own, kind.to_owner, partial(_run_and_hint_next, kind), among, singly=kind.singly
        )
    else:
        kind.run(own)


def _run_and_hint_next(kind: AnyKind, pk: JobKey) -> bool:
    """Run a job. Where an owner's jobs run singly, messages meanwhile did nothing, so send one for the next job."""
    was_there = kind.run(pk)
    if was_there and kind.singly and (following := next_of(kind.model, pk, kind.to_owner)) is not None:
        kind.hint(following)
    return was_there


def _attempt(kind: AnyKind, claim: Claim) -> None:
    """Do the work once, and end the claim however that ends.

    A task's time is that of its outermost job: another one, done between its steps, is given back when it is up.
    """
    is_within, outer = _works.get(), _works.set(True)
    try:
        with claim.renewed(), storage.disk_faults():
            kind.work(kind.row(claim.pk), claim)
    except LostClaimError:
        raise
    except kind.on_hold:
        claim.put_on_hold()
    except FileGoneFault as gone:
        _refuse(kind, claim, gone)
    except kind.refusals as refusal:
        _refuse(kind, claim, refusal)
    except storage.StorageFault as fault:
        waits = kind.waits_for_storage(kind.row(claim.pk))
        if claim.is_last_attempt and not waits:
            kind.close(kind.row(claim.pk), claim, str(fault))
        else:
            claim.wait_for_storage(however_long=waits)
    except SoftTimeLimitExceeded:
        if is_within:
            with suppress(LostClaimError):
                claim.release_lease()
            raise
        kind.close(kind.row(claim.pk), claim, _(kind.too_long))
    except Exception as error:
        log.error("%s %s: %s", kind.name, claim.pk, event_log.fault_of(error))
        claim.release_lease(error)
    finally:
        _works.reset(outer)


def _refuse(kind: AnyKind, claim: Claim, reason: Exception) -> None:
    """Close a job that no further attempt can help, with the reason's own text."""
    log.warning("%s %s refused: %s", kind.name, claim.pk, event_log.refusal_of(reason))
    kind.close(kind.row(claim.pk), claim, str(reason))
