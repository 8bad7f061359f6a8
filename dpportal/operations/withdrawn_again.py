"""Withdraws again what was withdrawn since the copy that the database was put back from, with the reason it had then.

`publications.withdrawal_journal` remembers it outside the database. Where that is lost, or another portal's, nothing is
claimed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import chain
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.budgets import charge_journal
from dpportal.jobs.clock import database_now
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications import publishing, withdrawal_journal
from dpportal.publications.draft import PUBLIC, Publication
from dpportal.releases.models import Release
from dpportal.streams.models import Stream

log = logging.getLogger(__name__)
KINDS: tuple[type[Publication], ...] = (Release, Stream)
WITHDRAWN = Q(withdrawn_at__isnull=False)
# For so long the sweep looks whether a withdrawal is remembered: a portal that stood still looks at all when it starts.
LOOKED_AFTER = timedelta(days=1)


def sweep() -> None:
    """Withdraw again what the memory has as withdrawn; remember what it lacks; what somebody changes now waits."""
    known = _known_ids()
    if known is None:
        return
    for publication in _of(Q(withdrawn_at=None, pk__in=known)):
        if publication.is_publishable:
            _try(publication, _withdraw_again_or_remember)
    late = Q(withdrawn_at__gt=database_now() - LOOKED_AFTER) | ~Q(pk__in=known)
    for publication in _of(WITHDRAWN & late):
        _try(publication, _withdraw_again_or_remember)


def check() -> list[Publication]:
    """The same, and those are compared whose withdrawal was forgotten in between. Returns what was withdrawn again."""
    before = set(findings())
    sweep()
    remember_all()
    return [publication for publication in findings() if publication not in before]


def remember_all() -> None:
    """Remember each withdrawal that the database has, or take over a newer one of the memory."""
    for publication in [] if _known_ids() is None else _of(WITHDRAWN):
        _try(publication, _withdraw_again_or_remember)


def findings() -> list[Publication]:
    """What was withdrawn again after a restore and still is, the newest first."""
    withdrawn = (kind._default_manager.filter(WITHDRAWN).only("withdrawn_at") for kind in KINDS)
    again = audit.newest(publishing.WITHDRAWN_AGAIN, chain.from_iterable(withdrawn))
    ordered = sorted(again.items(), key=lambda pair: pair[1], reverse=True)
    return [publication for publication, _at in ordered if isinstance(publication, Publication)]


def contradictions() -> Iterator[str]:
    """What is public and was withdrawn, or of which the memory cannot be read, in sentences."""
    for publication in _of(PUBLIC & Q(pk__in=_known_ids() or ())):
        try:
            withdrawal = withdrawal_journal.withdrawal_of(publication.pk)
            if withdrawal and withdrawal.is_newer(publication.published_at):
                text = _("%(name)s is public, and the portal's memory has that it was withdrawn.")
                yield text % {"name": publication}
        except MemoryFaultError as fault:
            yield f"{publication}: {fault}"


def _known_ids() -> set[UUID] | None:
    return remembered(withdrawal_journal.known_ids)


def remembered(ids: Callable[[], set[UUID]]) -> set[UUID] | None:
    """What the memory has; None where there is none, or not the one that this database goes with."""
    try:
        return ids() if charge_journal.has_mark() else None
    except MemoryFaultError:
        return None


def _of(rows: Q) -> Iterator[Publication]:
    for kind in KINDS:
        yield from kind._default_manager.filter(rows).defer(*kind.UNLISTED)


def _withdraw_again_or_remember(publication: Publication) -> None:
    """Of the database and the memory the one that is newer is right."""
    if not publishing.withdraw_again(publication):
        publishing.remember(publication)


def _try(publication: Publication, act: Callable[[Publication], object]) -> None:
    rows = type(publication)._default_manager.select_for_update(skip_locked=True)
    try:
        with transaction.atomic():
            if rows.filter(pk=publication.pk).values("pk").first():
                act(publication)
    except MemoryFaultError as fault:
        log.warning("%s: %s", publication.pk, fault)
