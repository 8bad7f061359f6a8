"""Recognises a database that was restored from an older copy, and leads back to a sound one.

`budgets.charge_journal` and `streams.period_journal` refuse to draw or charge again what the older copy lacks. Here an
administrator learns of it, at start and on the page Health.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import AuditEntry, User
from dpportal.budgets import charge_journal as charges, ledger
from dpportal.budgets.charge_journal import Charge
from dpportal.budgets.models import MemoryMark
from dpportal.datasets.models import Dataset
from dpportal.datasets.placeholders import keep_place
from dpportal.datasets.services import lock_dataset
from dpportal.history import heads
from dpportal.jobs import readiness
from dpportal.operations import erased_again, withdrawn_again
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications.draft import Publication
from dpportal.releases import execution, tasks as release_tasks
from dpportal.streams import closing, period_journal as periods, tasks as stream_tasks
from dpportal.streams.models import Stream
from dpportal.value_choices import execution as value_choices

TROUBLES, CHECKED_EVERY_SECONDS = "restoring.troubles", 60
# When this process began to look, and what it found last. Who looks for longer waits for a file system.
BEGUN, LATEST, SLOW_SECONDS = "restoring.begun", "restoring.latest", 10.0
_looking = threading.Lock()
# What an administrator has to do something about: charges that the database lacks, what the memory lacks, and a web
# server whose own machine cannot use memory or files.
LASTING = RESTORED, MEMORY, HINDERED = "restored", "memory", "web-hindered"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lacking:
    """The charges that a dataset's ledger lacks. known: whether the database has the dataset at all."""

    dataset_id: UUID
    name: str
    charges: list[Charge]
    known: bool


@dataclass(frozen=True)
class Findings:
    """How database and memory differ.

    lacking: charges that the database lacks. closed: streams that were closed for periods that it lacks. lost: what the
    memory lacks, or what of it cannot be read, in words. obstacle: why this process's machine cannot
    use memory or files, as where they are mounted for reading; empty if it can, or if the memory is lost. withdrawn:
    what was public in the older copy, and had been withdrawn since. erased: datasets that had lost their records since.
    """

    lacking: list[Lacking]
    closed: list[Stream]
    lost: list[str]
    obstacle: str = ""
    withdrawn: list[Publication] = field(default_factory=list)
    erased: list[Dataset] = field(default_factory=list)

    @property
    def troubles(self) -> list[str]:
        """Names of what an administrator has to do something about."""
        signs = {RESTORED: self.lacking, MEMORY: self.lost, HINDERED: self.obstacle}
        return [name for name, true in signs.items() if true]


def findings() -> Findings:
    """How database and memory differ now."""
    closed = Stream.objects.filter(closed_by_restore=True).select_related("dataset")
    lacking = sorted(_lacking(), key=lambda each: (not each.known, each.name))
    lost = _lost()
    return Findings(
        lacking,
        list(closed.order_by("-closed_at")),
        lost,
        "" if lost else readiness.obstacle(),
        withdrawn_again.findings(),
        erased_again.findings(),
    )


def lasting_troubles() -> list[str]:
    """The troubles, looked for once a minute at most: load balancers ask every few seconds.

    One thread looks at a time. The others say what was found last, and whether it has looked too long: a file system
    that does not answer would keep them all.
    """
    troubles = cache.get(TROUBLES)
    if troubles is not None:
        return list(troubles)
    if not _looking.acquire(blocking=False):
        begun = cache.get(BEGUN, time.monotonic())
        return [MEMORY] if time.monotonic() - begun > SLOW_SECONDS else list(cache.get(LATEST, []))
    try:
        cache.set(BEGUN, time.monotonic(), None)
        troubles = findings().troubles
        cache.set(TROUBLES, troubles, CHECKED_EVERY_SECONDS)
        cache.set(LATEST, troubles, None)
    finally:
        _looking.release()
    return list(troubles)


def begin(**_: object) -> None:
    """Let a new database go with the memory that is there; called after each migration.

    One in which anybody did anything had a mark: who took it out would have all believed that the database says.
    """
    if not MemoryMark.objects.exists() and not AuditEntry.objects.exists():
        try:
            charges.put_mark()
            heads.begin()
            _accept_all()
        except MemoryFaultError as fault:
            log.error("%s", fault)


def check() -> Findings:
    """Close the streams that the database has behind what people have seen, withdraw and erase again what was
    withdrawn and erased, and say how it differs from the memory.

    What missing charges were bound to waits from now on until they are entered, too.
    """
    for lacking in _lacking():
        if lacking.known:
            ledger.bind_again(Dataset.objects.get(pk=lacking.dataset_id))
    behind = []
    for stream_id in Stream.objects.exclude(state=Stream.State.DRAFT).values_list("pk", flat=True):
        with transaction.atomic():
            behind += _closed_if_behind(stream_id)
    withdrawn, erased = withdrawn_again.check(), erased_again.check()
    return replace(findings(), closed=behind, withdrawn=withdrawn, erased=erased)


def accept() -> None:
    """Take an administrator's word that this database is the newest: remember what the memory lacks of it."""
    if not _readable(journal.mark):
        journal.forget_mark()
    charges.put_mark()
    heads.renew()
    _accept_all()


@transaction.atomic
def enter_missing(dataset_id: UUID, by: User) -> int:
    """Enter the charges that a dataset's ledger lacks; of a dataset that is missing itself, note that this is known.

    What binds the charges comes back with them, so that pages go on to say what was spent and totals stay private.
    Returns how many there were. Raises BudgetRefusedError or MemoryFaultError.
    """
    dataset = Dataset.objects.filter(pk=dataset_id).first()
    if dataset is None:
        return _note(dataset_id, by)
    _bring_back_bound(dataset, by)
    entered = ledger.enter_missing(dataset, by)
    release_tasks.resume_on_hold(dataset_id)
    stream_tasks.resume_on_hold(dataset_id)
    value_choices.resume_on_hold(dataset_id)
    if entered:
        number = clause(gettext_noop("%(count)s after a restore"), count=len(entered))
        audit.record(by, "entered missing charges", dataset, number)
    return len(entered)


def _note(dataset_id: UUID, by: User) -> int:
    known = charges.charges_of(dataset_id)
    if not known or charges.is_noted(dataset_id):
        return 0
    if bound := _bound_to(known):
        _bring_back(dataset_id, known, bound, by)
    else:
        charges.note(dataset_id)
    gone = Dataset(pk=dataset_id, name=known[-1].dataset)
    audit.record(
        by, "noted missing dataset", gone, clause(gettext_noop("%(count)s charges"), count=len(known))
    )
    return len(known)


def _bound_to(known: list[Charge]) -> list[Dataset]:
    """The datasets of nearly the same people as a missing one's, and where that was not kept, all that may be such.

    Those come first of which it was kept: they have the owner of the missing one.
    """
    certain = [charge for charge in known if charge.bound is not None]
    datasets = [d for d in Dataset.objects.select_related("owner") if any(c.binds(d) for c in known)]
    return sorted(datasets, key=lambda dataset: not any(charge.binds(dataset) for charge in certain))


def _bring_back_bound(dataset: Dataset, by: User) -> None:
    """Bring back the missing datasets that this one's missing charges are bound to."""
    named = {UUID(name) for charge in charges.missing(dataset) for name in charge.bound or ()}
    for gone in named.intersection(charges.gone_ids()):
        if known := charges.charges_of(gone):
            _bring_back(gone, known, [dataset], by)


def _bring_back(dataset_id: UUID, known: list[Charge], bound: list[Dataset], by: User) -> None:
    """Keep a missing dataset's place, without records, and enter its charges: they go on to bind the others."""
    gone = keep_place(dataset_id, known[-1].dataset, bound[0].owner)
    ledger.enter_missing(gone, by, bound)
    for other in bound:
        release_tasks.resume_on_hold(other.pk)
        stream_tasks.resume_on_hold(other.pk)
        value_choices.resume_on_hold(other.pk)


def _lacking() -> Iterable[Lacking]:
    if not _readable(charges.has_mark):
        return
    datasets = Dataset.objects.only("name").in_bulk()
    for dataset_id in charges.dataset_ids():
        with suppress(MemoryFaultError):  # told among what is lost
            yield from _lacking_of(dataset_id, datasets.get(dataset_id))


def _lacking_of(dataset_id: UUID, dataset: Dataset | None) -> Iterable[Lacking]:
    if dataset is not None:
        if missing := charges.missing(dataset):
            yield Lacking(dataset_id, dataset.name, missing, known=True)
    elif not charges.is_noted(dataset_id) and (known := charges.charges_of(dataset_id)):
        yield Lacking(dataset_id, known[-1].dataset, known, known=False)


def _lost() -> list[str]:
    """What the memory lacks of the database, in words."""
    if not _readable(charges.has_mark):
        return [journal.lost_text()]
    streams = Stream.objects.filter(state=Stream.State.OPEN).select_related("dataset")
    streams = streams.only("name", "dataset__name")
    return [
        *(dataset.name for dataset in _charged().only("name") if _charges_lost(dataset)),
        *(f"{stream.dataset.name}: {stream.name}" for stream in streams if _periods_lost(stream)),
    ]


def _charges_lost(dataset: Dataset) -> bool:
    """Whether the memory is behind a dataset's ledger, asked again when nobody is just writing to both."""
    if not charges.is_behind(dataset):
        return False
    with transaction.atomic():
        lock_dataset(dataset)
        return charges.is_behind(dataset)


def _periods_lost(stream: Stream) -> bool:
    """Whether the memory lacks periods of an open stream, asked again like that."""
    if not periods.is_behind(stream):
        return False
    with transaction.atomic():
        locked = Stream.objects.select_for_update().get(pk=stream.pk)
        return locked.is_open and periods.is_behind(locked)


def _closed_if_behind(stream_id: UUID) -> list[Stream]:
    stream = Stream.objects.select_for_update().filter(pk=stream_id).first()
    if stream is None:
        return []
    try:
        if stream.state == Stream.State.CLOSED:
            closing.forget(stream_id)
        elif stream.is_open and periods.has_gone_on(stream):
            closing.close(stream, by_restore=True)
            log.warning("stream %s is behind what people have seen of it and was closed", stream.pk)
            return [stream]
    except MemoryFaultError as fault:
        log.warning("%s", fault)  # told among what is lost, too
    return []


def _accept_all() -> None:
    for dataset in _charged():
        with transaction.atomic():
            lock_dataset(dataset)
            outcomes = execution.outcomes_of(dataset) | value_choices.outcomes_of(dataset)
            charges.accept(dataset, outcomes)
    for stream in Stream.objects.filter(opened_at__isnull=False):
        with transaction.atomic():
            periods.accept(Stream.objects.select_for_update().get(pk=stream.pk))
    withdrawn_again.remember_all()
    erased_again.sweep()


def _charged() -> QuerySet[Dataset]:
    return Dataset.objects.filter(ledger__kind="charge").distinct()


def _readable(ask: Callable[[], object]) -> bool:
    try:
        return bool(ask())
    except MemoryFaultError:
        return False
