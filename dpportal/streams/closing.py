"""The end of a stream, however it comes: no further period, and nothing kept that only a further one would need."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dpportal.datasets.models import Dataset
from dpportal.platform.journal import MemoryFaultError
from dpportal.streams import period_journal, repeated_files, vault
from dpportal.streams.models import Stream

log = logging.getLogger(__name__)


def close(stream: Stream, *, keeps_token: bool = False, by_restore: bool = False) -> bool:
    """Close an open stream and delete its secret noise, in the caller's transaction; False if it was not open.

    keeps_token: programs are still answered what is published. by_restore: the memory is ahead of this database, and
    keeps what it has, until the next look, for the database that should have been put back.
    """
    changed = {"state": Stream.State.CLOSED, "closed_at": timezone.now(), "closed_by_restore": by_restore}
    if not keeps_token:
        changed["token_sha256"] = ""
    if not Stream.objects.filter(pk=stream.pk, state=Stream.State.OPEN).update(**changed):
        return False
    vault.forget_state(stream)
    repeated_files.forget(stream)
    if not by_restore:
        forget_once_committed(stream.pk)
    return True


def forget_once_committed(stream_id: UUID) -> None:
    """Erase its decisions after the transaction at hand; `sweep` does where the memory cannot be reached then.

    Not a partial: Django says of what failed how it is called.
    """
    Stream.objects.filter(pk=stream_id).update(forgotten_at=None)
    transaction.on_commit(lambda: forget(stream_id), robust=True)


def forget(stream_id: UUID) -> None:
    """Erase in the memory what a closed stream decided. Raises MemoryFaultError."""
    period_journal.forget_decision(stream_id)
    Stream.objects.filter(pk=stream_id).update(forgotten_at=timezone.now())


def sweep() -> None:
    """Erase what the memory still has of closed streams, since it could not be reached, or a process died.

    Of one that was closed by a restore the memory keeps it until the next look, unless its records are erased.
    """
    due = Q(closed_by_restore=False) | Q(dataset__state=Dataset.State.ERASED)
    for stream_id in Stream.objects.filter(
        due, state=Stream.State.CLOSED, forgotten_at=None, opened_at__isnull=False
    ).values_list("pk", flat=True):
        try:
            forget(stream_id)
        except MemoryFaultError as fault:
            log.warning("what the memory has of closed running counts is erased later: %s", fault)
            return
