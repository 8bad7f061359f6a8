"""What was deleted or sealed anew, and may still stand in the database's own files: see `key_traces`."""

from __future__ import annotations

from uuid import UUID

from django.db import models
from django.utils import timezone


class LeftTrace(models.Model):
    """A key that was destroyed, or values that were sealed anew, in the transaction that wrote this row.

    dataset_id: whose key it was; none where the traces are those of a rotation. cleared: the tables that were written
    anew since. The row goes with the last trace.
    """

    dataset_id = models.UUIDField(null=True, editable=False)
    since = models.DateTimeField(default=timezone.now, editable=False)
    cleared = models.JSONField(default=list, editable=False)

    def __str__(self) -> str:
        return f"traces of {self.dataset_id or 'a rotation'}"


def note(dataset_id: UUID | None = None) -> None:
    """Have the sweep see to what the database's files keep of this transaction."""
    LeftTrace.objects.create(dataset_id=dataset_id)
