"""Where a stream's data, budget and noise come together: it is opened once, and each period is published once.

Whatever noise a period draws is revealed, and remembered, by the transaction that stores the period: the published
counts, the next secret state and the true sums are written together or not at all. So a period is before or after,
never between, and what anyone saw is never drawn again. Just before it commits, what it publishes is remembered outside
the database, too: whatever copy of the database is put back, no second answer is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_noop, ngettext

from dpportal.accounts.models import User
from dpportal.budgets import ledger
from dpportal.budgets.charge_journal import RestoredError, require_complete
from dpportal.budgets.confirmed import require_confirmed
from dpportal.datasets.access import require_owner, require_releaser
from dpportal.history import watched
from dpportal.history.imprints import ForgedRowError
from dpportal.jobs.claims import Claim, JobState
from dpportal.platform.journal import MemoryFaultError
from dpportal.streams import closing, period_imprints, period_journal, vault
from dpportal.streams.announcements import announce_periods
from dpportal.streams.measure import largest_increment
from dpportal.streams.models import Period, Stream
from dpportal.streams.period_journal import Decision
from dpportal.streams.vault import TrueCounts
from mechanisms import registry
from mechanisms.continual.clipping import clipped
from mechanisms.continual.mechanism import StreamSecrets
from mechanisms.noise import Noise
from mechanisms.noise.secret import secret_noise

_STREAMS = Stream.objects.select_related("dataset", "domain_version", "charge__budget")
# What the record says of one that was published.
PERIOD = gettext_noop("period %(index)s")


@dataclass(frozen=True)
class Update:
    """What one period adds to each running count, as it was given: what is beyond the declared largest is clipped.

    key: the digest of whoever's request this is, empty if it has none; see `publications.idempotency_keys`.
    """

    index: int
    increments: tuple[int, ...]
    source: str
    key: str = ""


@dataclass(frozen=True)
class PublishedPeriod:
    """A period as it is published now; `new` unless it was before, whatever was sent for it then.

    clipped: how many of its counts were beyond the declared largest; known of a new one only.
    """

    period: Period
    new: bool
    clipped: int = 0


class RefusalReason(Enum):
    """Why a period is refused, for programs."""

    CLOSED = "closed"
    KEY = "key"
    ORDER = "order"
    FUTURE = "future"
    HORIZON = "horizon"
    RESTORED = "restored"
    OWNER = "owner"


class PeriodRefusedError(Exception):
    """A period that cannot be published; the message says why and what to do, and holds no count."""

    def __init__(self, why: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.why = why


def open_stream(stream: Stream, claim: Claim, noise: Noise | None = None) -> None:
    """Draw what is drawn in advance, and make stream and charge a fact together.

    Raises PeriodRefusedError, LostClaimError or BudgetRefusedError.
    """
    with _as_confirmed():
        stream = watched.written(_STREAMS, stream.pk)
        plan = stream.plan
        require_confirmed(stream, plan.loss)
    state = registry.stream(plan.mechanism).open(plan, noise or secret_noise())
    assert stream.charge is not None
    with transaction.atomic():
        claim.finish(JobState.DONE)
        _check_right(stream, stream.created_by_id)
        vault.keep_first(stream, state)
        Stream.objects.filter(pk=stream.pk).update(state=Stream.State.OPEN, opened_at=timezone.now())
        with _asking_the_memory():
            period_journal.begin(stream)
        ledger.spend(stream.charge)


def publish(
    stream_id: UUID,
    updates: Sequence[Update],
    *,
    by: User | None = None,
    noise: Noise | None = None,
    claim: Claim | None = None,
) -> list[PublishedPeriod]:
    """Publish the next periods, all or none; one that is published is returned as it is, whatever the update holds.

    A published period is recognised by its number alone: whether an update equals what it was made from decides
    nothing, so that whoever sends guesses of a true count learns nothing by them.
    by: who publishes, the owner of the dataset if it is nobody else. claim: of the job that publishes, which must still
    hold. Raises PeriodRefusedError, VaultError, LostClaimError.
    """
    while True:
        catch_up(stream_id)
        # Decided meanwhile by a writer whose own transaction will never commit: that is published first.
        with suppress(period_journal.DecidedError):
            return _publish(stream_id, updates, by, noise or secret_noise(), claim)


def catch_up(stream_id: UUID) -> None:
    """Publish what was decided when the portal died before it could be stored.

    In a transaction of its own: it was decided, whatever becomes of the update that comes now.
    """
    with _asking_the_memory():
        is_ahead = period_journal.is_ahead(stream_id)
    if is_ahead:
        _publish_decided(stream_id)


@transaction.atomic
def _publish_decided(stream_id: UUID) -> None:
    stream = Stream.objects.select_for_update().get(pk=stream_id)
    with _asking_the_memory():
        decision = period_journal.pending(stream)
        if decision is None:
            return
        require_complete(stream.dataset)
    # It was decided when it was asked for, so it is the dataset's, whoever asked.
    require_owner(stream.dataset, partial(PeriodRefusedError, RefusalReason.OWNER))
    true = [period.true_counts for period in decision.periods]
    periods = [period.period_of(stream) for period in decision.periods]
    _store(stream, _Run(decision.next_state, true[-1].sums, periods, true), decision.version)


@transaction.atomic
def _publish(
    stream_id: UUID, updates: Sequence[Update], by: User | None, noise: Noise, claim: Claim | None
) -> list[PublishedPeriod]:
    # The lock that makes concurrent updates of one stream wait for each other. On SQLite the transaction is one.
    stream = Stream.objects.select_related("dataset").select_for_update(of=("self",)).get(pk=stream_id)
    if claim is not None:
        claim.renew()
    _check_right(stream, by.pk if by else stream.dataset.owner_id)
    with _as_confirmed():
        watched.require_written(stream)
        require_confirmed(stream, stream.plan.loss)
    known = {p.index: p for p in stream.periods.filter(index__in=[u.index for u in updates])}
    done = [PublishedPeriod(known[update.index], new=False) for update in updates if update.index in known]
    fresh = [update for update in updates if update.index not in known]
    return done + (_advance(stream, fresh, noise) if fresh else [])


def _check_right(stream: Stream, user_id: int) -> None:
    """Whoever publishes may still do so; until the transaction ends, nobody takes that right."""
    require_releaser(stream.dataset, user_id, partial(PeriodRefusedError, RefusalReason.OWNER))


@contextmanager
def _as_confirmed() -> Iterator[None]:
    """A stream that somebody changed past the portal draws nothing."""
    try:
        yield
    except ForgedRowError as fault:
        raise vault.VaultError(str(fault)) from None


@contextmanager
def _asking_the_memory() -> Iterator[None]:
    """What people have seen and the database lacks refuses a period; a memory that is lost is a fault."""
    try:
        yield
    except RestoredError as refusal:
        raise PeriodRefusedError(RefusalReason.RESTORED, str(refusal)) from None
    except MemoryFaultError as fault:
        raise vault.MemoryUnreachableError(str(fault)) from None


@dataclass
class _Run:
    """Periods that are published one after the other in one transaction."""

    state: StreamSecrets
    sums: np.ndarray
    released: list[Period] = field(default_factory=list)
    true: list[TrueCounts] = field(default_factory=list)


def _advance(stream: Stream, updates: list[Update], noise: Noise) -> list[PublishedPeriod]:
    """Draw and store the next periods."""
    _check_open(stream, updates[0])
    with _asking_the_memory():
        require_complete(stream.dataset)
        period_journal.require_newest(stream)
    state, version = vault.read(stream)
    for place, update in enumerate(updates):
        check_order(stream, update.index, state.period + 1 + place)
        _check_key(stream, update)
    plan = stream.plan
    mechanism = registry.stream(plan.mechanism)
    widths = mechanism.half_widths(plan, np.array([update.index for update in updates]))
    run = _Run(state, _sums_before(stream, state.period))
    for update, width in zip(updates, widths, strict=True):
        increments, beyond = clipped(update.increments, largest_increment(stream))
        released, run.state = mechanism.advance(plan, run.state, increments, noise)
        run.sums = run.sums + increments
        run.true.append(TrueCounts(run.sums, beyond))
        run.released.append(_period(stream, update, released, int(width)))
    _store(stream, run, version)
    with _asking_the_memory():
        period_journal.decide(stream, Decision.of(version, run.state, run.released, run.true))
    pairs = zip(run.released, run.true, strict=True)
    return [PublishedPeriod(period, new=True, clipped=int(true.clipped.sum())) for period, true in pairs]


def _check_key(stream: Stream, update: Update) -> None:
    """A key that came with another period: its sender repeats a request, and took the next period by mistake."""
    if update.key and stream.periods.filter(key=update.key).exists():
        raise PeriodRefusedError(
            RefusalReason.KEY,
            _(
                "Another period was published by a request with this Idempotency-Key. Send each with a key of its own."
            ),
        )


def _period(stream: Stream, update: Update, released: np.ndarray, width: int) -> Period:
    return Period(
        stream=stream,
        index=update.index,
        released=released.tolist(),
        half_width=width,
        key=update.key,
        source=update.source,
    )


def _store(stream: Stream, run: _Run, version: int) -> None:
    """Write what the run made, in the caller's transaction; after its last period a stream keeps no noise."""
    Period.objects.bulk_create(run.released)
    vault.keep_sums(zip(run.released, run.true, strict=True))
    period_imprints.note(stream, run.released)
    announce_periods(stream, run.released)
    vault.replace(stream, run.state, version)
    if run.state.period == stream.horizon:
        closing.close(stream, keeps_token=True)


def _sums_before(stream: Stream, period: int) -> np.ndarray:
    """The true running counts after a period, (k,) int64."""
    if not period:
        return np.zeros(len(stream.labels), dtype=np.int64)
    last = vault.true_counts([stream.periods.get(index=period)])
    if last is None:
        raise vault.VaultError(
            _("The true counts of this running count were deleted, so it cannot be continued.")
        )
    return last[0].sums


def _check_open(stream: Stream, update: Update) -> None:
    _check_horizon(stream, update.index)
    if stream.closed_by_restore:
        raise PeriodRefusedError(RefusalReason.RESTORED, period_journal.behind_text())
    if not stream.is_open:
        text = {
            Stream.State.CLOSED: _(
                "This running count is closed, so nothing can be added. Open a new running count."
            ),
            Stream.State.OPENING: _("This running count is still being opened. Try again in a moment."),
        }
        other = _("This running count is not open. Open it first; that spends its budget.")
        raise PeriodRefusedError(RefusalReason.CLOSED, text.get(Stream.State(stream.state), other))


def _check_horizon(stream: Stream, index: int) -> None:
    if stream.horizon is not None and index > stream.horizon:
        raise PeriodRefusedError(
            RefusalReason.HORIZON,
            ngettext(
                "This running count was opened for %(horizon)s period, and that one lies beyond it. "
                "Open a new running count to continue; it needs budget of its own.",
                "This running count was opened for %(horizon)s periods, and that one lies beyond them. "
                "Open a new running count to continue; it needs budget of its own.",
                stream.horizon,
            )
            % {"horizon": f"{stream.horizon:,}"},
        )


def check_order(stream: Stream, index: int, due: int) -> None:
    """Whether a period that is not published may be published, `due` being the next. Raises PeriodRefusedError."""
    _check_horizon(stream, index)
    calendar = stream.calendar
    if index != due:
        raise PeriodRefusedError(
            RefusalReason.ORDER,
            _(
                "Period %(due)s is due next. Add it first, with 0 if nothing happened: periods are added one by "
                "one, in order."
            )
            % {"due": calendar.name(due)},
        )
    begins = calendar.start(index)
    if begins is not None and calendar.is_future(index):
        raise PeriodRefusedError(
            RefusalReason.FUTURE,
            _("Period %(label)s has not begun. Publish it on %(day)s or later.")
            % {"label": calendar.name(index), "day": date_format(begins, "DATE_FORMAT")},
        )
