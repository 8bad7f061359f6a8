"""The end of a stream, however it comes: no further period, and nothing kept that only a further one would need."""

from __future__ import annotations

from django.utils import timezone

from dpportal.streams import period_journal, repeated_files, vault
from dpportal.streams.models import Stream


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
        period_journal.forget_once_committed(stream.pk)
    return True
