"""Jobs that survive their worker: claims with a lease and a fence, progress, and the sweep.

The database is the truth; a Celery message only says that there may be work. A claim is one conditional UPDATE
that raises the job's fence number and takes a lease; the living worker renews the lease. When a worker is killed or
stopped, its lease runs out, the sweep sends another message, and another worker claims with a higher fence. A worker
that wakes up late finds the fence moved, and everything it still tries to write is refused.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, models, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Now
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _

from dpportal.jobs import event_log, readiness
from dpportal.jobs.clock import database_now, db_ago, from_now
from dpportal.jobs.lock_timeouts import is_held, is_unavailable
from dpportal.jobs.models import Heartbeat
from dpportal.platform import storage
from dpportal.platform.json_types import Json

log = logging.getLogger(__name__)

# What names a job among those of its kind: the key of the object that it works for, or its question's digest.
JobKey = UUID | str
J = TypeVar("J", bound="Job")
M = TypeVar("M", bound=models.Model)


class JobState(models.TextChoices):
    """How far a job is; workers take those that are queued."""

    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


ACTIVE = (JobState.QUEUED, JobState.RUNNING)

GAVE_UP = _(
    "The job was interrupted {attempts} times, so it was stopped. Nothing more will be tried by itself; "
    "ask an administrator to look at the worker's memory and log, then start it again."
)


REFUSED_BY_DATABASE = _(
    "The database has refused this job for more than an hour, so it was stopped. Ask an administrator to look at the "
    "database's log and the worker's, then start it again."
)
# So long after a job began, attempts that the database ended do not count.
UNCOUNTED_SECONDS = 3600.0
# Between attempts while stored files cannot be reached; for so long after a job began they do not count.
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, STORAGE_PATIENCE_SECONDS = 2.0, 60.0, 300.0
# What a job's row says while an administrator has to see to ledger or memory, and until it looks again by itself.
ON_HOLD, ON_HOLD_SECONDS = "on hold", 60.0


# Sent by a job's model, with `pk` and `state`, in the transaction in which a worker ends it.
ended = Signal()


class LostClaimError(Exception):
    """Another worker has taken the job over; this one must stop and write nothing."""


class Job(models.Model):
    """What a worker has to do for one object, and how far it is."""

    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    step = models.CharField(max_length=20, blank=True)
    progress = models.BigIntegerField(default=0)
    progress_total = models.BigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    # By the database's clock, like every time of a job. In the future if the job is put off until then.
    hinted_at = models.DateTimeField(db_default=Now())
    # Since when it waits, or waited, for a worker: of one that is put off, from its time on.
    queued_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True)

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["state", "lease_until"])]

    @property
    def is_queued(self) -> bool:
        """Whether it waits for a worker."""
        return self.state == JobState.QUEUED

    @property
    def is_running(self) -> bool:
        """Whether a worker is at it."""
        return self.state == JobState.RUNNING

    @property
    def is_done(self) -> bool:
        """Whether it came to its end."""
        return self.state == JobState.DONE

    @property
    def is_failed(self) -> bool:
        """Whether it was given up."""
        return self.state == JobState.FAILED

    @property
    def is_cancelled(self) -> bool:
        """Whether its curator stopped it."""
        return self.state == JobState.CANCELLED

    @property
    def is_on_hold(self) -> bool:
        """Whether it waits for an administrator, see `ON_HOLD`."""
        return self.step == ON_HOLD

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def percent(self) -> int | None:
        """How far the present step is, or None where its length is not known."""
        return min(100, 100 * self.progress // self.progress_total) if self.progress_total else None

    @property
    def failure_for_administrators(self) -> str:
        """Why it failed, as far as those may read it who see no row."""
        return self.failure

    @property
    def elapsed(self) -> timedelta:
        """Since it was queued; while it is active, the database is asked what time it is."""
        return max(timedelta(0), (self.finished_at or database_now()) - self.queued_at)


def reset_fields() -> Json:
    """The fields of a job that runs once more. The fence stays, so that no earlier worker can write to the job."""
    return {
        "state": JobState.QUEUED,
        "step": "",
        "progress": 0,
        "progress_total": 0,
        "attempts": 0,
        "failure": "",
        "started_at": None,
        "finished_at": None,
        "lease_until": None,
        "queued_at": Now(),
        "hinted_at": Now(),
    }


@dataclass(frozen=True)
class Claim:
    """The right to work on one job until the fence moves. kind: what the log calls it."""

    model: type[Job]
    pk: JobKey
    fence: int
    attempt: int = 0
    kind: str = ""
    begun: float = field(default_factory=time.monotonic, compare=False)

    @property
    def elapsed(self) -> float:
        """Seconds since it was claimed."""
        return time.monotonic() - self.begun

    def write(self, **fields: object) -> None:
        """Write to the job if this claim still holds; inside a transaction, the row stays locked until it ends."""
        held = self.model._base_manager.filter(pk=self.pk, fence=self.fence, state=JobState.RUNNING)
        if held.update(**fields) != 1:
            raise LostClaimError

    def renew(self) -> None:
        self.write(lease_until=_lease_end())

    def step(self, name: str) -> None:
        self.write(step=name, progress=0, progress_total=0, lease_until=_lease_end())

    def advance(self, done: int, total: int | None) -> None:
        self.write(progress=done, progress_total=total or 0)

    def finish(self, state: JobState, failure: str = "", **fields: object) -> None:
        """fields: what else is written with its end."""
        with transaction.atomic():
            self.write(state=state, failure=failure, finished_at=Now(), lease_until=None, **fields)
            ended.send(self.model, pk=self.pk, state=state)
        event_log.ended(self, state)

    def postpone(self, seconds: float, **fields: object) -> None:
        """Let the job wait for so long, and then begin again."""
        later = from_now(seconds)
        self.write(**{**reset_fields(), "queued_at": later, "hinted_at": later, **fields})
        event_log.ended(self, "put off")

    def put_on_hold(self) -> None:
        """Let the job wait for an administrator, and look again now and then."""
        self.postpone(ON_HOLD_SECONDS, step=ON_HOLD)

    def release_lease(self, error: Exception | None = None) -> None:
        """End the lease now, after an unexpected error, so that the sweep tries again or gives up.

        An attempt that the database ended does not count during the first hour. A job that the database refuses for
        longer fails.
        """
        refused: dict[str, models.Expression] = {}
        if is_unavailable(error):
            connection.close_if_unusable_or_obsolete()
            attempts = _by_patience(F("attempts") - 1, F("attempts"), models.IntegerField())
            refused = {"attempts": attempts, "failure": self._by_patience_texts("", str(REFUSED_BY_DATABASE))}
        self.write(lease_until=Now(), **refused)
        event_log.ended(self, "given back")

    def _by_patience_texts(self, meanwhile: str, later: str) -> models.Expression:
        """A failure, as the kind of job stores it: sealed, where it could tell a number of rows."""
        field = self.model._meta.get_field("failure")
        return _by_patience(Value(meanwhile, output_field=field), Value(later, output_field=field), field)

    def wait_for_storage(self, *, however_long: bool) -> None:
        """Begin again when as much time has passed as since the job began: within seconds, and a minute at most.

        Such an attempt does not count during the first minutes, or ever where the job waits however long.
        """
        later = from_now(min(LONGEST_PAUSE_SECONDS, max(SHORTEST_PAUSE_SECONDS, self._since_begun())))
        counts = not however_long and self._since_begun() > STORAGE_PATIENCE_SECONDS
        again = {"step": "", "progress": 0, "progress_total": 0, "lease_until": None}
        again |= {"attempts": F("attempts") if counts else F("attempts") - 1}
        self.write(**again, state=JobState.QUEUED, queued_at=later, hinted_at=later)
        event_log.ended(self, "put off")

    def _since_begun(self) -> float:
        """Seconds since the first attempt began."""
        started_at = self.model._base_manager.values_list("started_at", flat=True).get(pk=self.pk)
        return (database_now() - started_at).total_seconds() if started_at else 0.0

    @property
    def is_last_attempt(self) -> bool:
        """Whether the job is given up if this attempt fails, too."""
        used_up = self.model._base_manager.filter(pk=self.pk, attempts__gte=settings.JOB_ATTEMPTS)
        return used_up.exists()

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Renew the lease in the background while the block runs."""
        stop = threading.Event()
        beat = threading.Thread(target=self._beat, args=(stop,), daemon=True)
        beat.start()
        try:
            yield
        finally:
            stop.set()
            beat.join()

    def _beat(self, stop: threading.Event) -> None:
        while not stop.wait(settings.JOB_LEASE_SECONDS / 4):
            try:
                self.renew()
            except LostClaimError:
                break  # the working thread finds out at its next write
            except DatabaseError:
                connection.close()  # a server that restarts: the next beat connects anew
        connection.close()


def claim(model: type[Job], pk: JobKey, kind: str = "") -> Claim | None:
    """Take a queued job, or one whose worker's lease ran out; None if there is nothing to take.

    kind: what the log calls it, its model's name otherwise.

    Removes scratch files of killed workers on this machine first. Takes nothing while the disk is nearly full, or while
    something else stops this machine.
    """
    storage.clear_scratch()
    if storage.is_full() or readiness.obstacle():
        return None
    free = waiting() | _lost()
    return _raise_fence(
        model,
        pk,
        kind,
        free & Q(attempts__lt=settings.JOB_ATTEMPTS),
        state=JobState.RUNNING,
        attempts=F("attempts") + 1,
        failure="",
        lease_until=_lease_end(),
        started_at=Coalesce("started_at", Now(), output_field=models.DateTimeField()),
    )


def sweep(
    jobs: models.QuerySet[J], hint: Callable[[JobKey], None], give_up: Callable[[JobKey, str], None]
) -> None:
    """Send messages again for jobs that wait without an owner; give up those that used all attempts.

    A waiting job gets one message a lease, and only while a worker lives that can do it, so that messages do not pile
    up. Rows that another transaction has locked are left for the next sweep.
    """
    lost = jobs.filter(_lost())
    used_up = lost.filter(attempts__gte=settings.JOB_ATTEMPTS)
    interrupted, refused = str(GAVE_UP).format(attempts=settings.JOB_ATTEMPTS), str(REFUSED_BY_DATABASE)
    # Whoever has the database can have written anything for a reason.
    for pk, failure in list(used_up.values_list("pk", "failure")):
        _give_up(jobs.model, pk, partial(give_up, pk, refused if failure == refused else interrupted))
    waiting = jobs.filter(state=JobState.QUEUED) | lost.filter(attempts__lt=settings.JOB_ATTEMPTS)
    if not Heartbeat.can_work():
        return
    stale = waiting.filter(hinted_at__lt=db_ago(settings.JOB_LEASE_SECONDS))
    for pk in stale.values_list("pk", flat=True):
        if _update_unless_held(jobs.filter(pk=pk), hinted_at=Now()):
            hint(pk)


def _give_up(model: type[Job], pk: JobKey, give_up: Callable[[], None]) -> None:
    """Close one job. If that fails, the other jobs go on, and the next sweep tries again."""
    try:
        with suppress(LostClaimError):  # another sweep was faster
            give_up()
    except Exception as error:
        if is_unavailable(error):
            connection.close_if_unusable_or_obsolete()
        if not is_held(error):  # a transaction that holds a row of it ends, or the database ends it
            log.error("%s %s cannot be given up: %s", model.__name__, pk, event_log.fault_of(error))


def take_over_expired(model: type[Job], pk: JobKey, kind: str = "") -> Claim | None:
    """Claim a job that used all its attempts and whose lease ran out, in order to close it."""
    return _raise_fence(model, pk, kind, _lost(), lease_until=_lease_end())


@transaction.atomic
def _raise_fence(model: type[Job], pk: JobKey, kind: str, free: Q, **fields: object) -> Claim | None:
    """Claim the job if it is free.

    One transaction: a worker that was stopped between the UPDATE and the reading would read, when it wakes up,
    the fence of the one that took over from it.
    """
    if not _update_unless_held(model._base_manager.filter(free, pk=pk), fence=F("fence") + 1, **fields):
        return None
    fence, attempt = model._base_manager.values_list("fence", "attempts").get(pk=pk)
    claimed = Claim(model, pk, fence, attempt, kind or model.__name__)
    event_log.begun(claimed)
    return claimed


@transaction.atomic
def _update_unless_held(jobs: models.QuerySet[J], **fields: object) -> int:
    """Write to rows that no other transaction has locked: waiting for a frozen worker's would freeze this one."""
    free = jobs.order_by().select_for_update(no_key=True, skip_locked=True).values("pk")
    return jobs.filter(pk__in=free).update(**fields)


def _by_patience(
    meanwhile: models.Expression | F, later: models.Expression | F, kind: models.Field[Any, Any]
) -> models.Expression:
    """The one for an hour after the job began, the other from then on."""
    return Case(
        When(started_at__gt=db_ago(UNCOUNTED_SECONDS), then=meanwhile), default=later, output_field=kind
    )


def _lease_end() -> models.Expression:
    return from_now(settings.JOB_LEASE_SECONDS)


def resume_on_hold(held: models.QuerySet[J], hint: Callable[[JobKey], None]) -> None:
    """Go on with those of the jobs that waited for an administrator."""
    held = held.filter(state=JobState.QUEUED, step=ON_HOLD)
    for pk in held.values_list("pk", flat=True):
        held.filter(pk=pk).update(step="", hinted_at=Now())
        hint(pk)


def waiting() -> Q:
    """Queued, and not put off to a later time."""
    return Q(state=JobState.QUEUED, hinted_at__lte=Now())


def _lost() -> Q:
    """Running without an owner: its lease ended, or it was given by a clock that was far ahead."""
    beyond = from_now(2 * settings.JOB_LEASE_SECONDS)
    return Q(state=JobState.RUNNING) & (Q(lease_until__lte=Now()) | Q(lease_until__gt=beyond))
