"""Which processes of the portal are alive, on whatever machine."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from dpportal.running.clock import ago, database_now

# The same on every machine, whatever its settings, since one machine's sweep looks at another's workers.
BEAT_SECONDS, SILENT_AFTER_SECONDS = 5.0, 30.0


class Heartbeat(models.Model):
    """A worker's or a sweep's last sign of life, by the database's clock. Written by `heartbeat` only."""

    class Kind(models.TextChoices):
        WORKER = "worker", _("Worker")
        SWEEP = "sweep", _("Sweep")

    name = models.CharField(max_length=200, primary_key=True)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    # What this process's own clock said at `seen_at`.
    own_clock = models.DateTimeField()

    class Meta:
        ordering = ["kind", "name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def alive(cls, kind: str) -> models.QuerySet[Heartbeat]:
        """Those heard of lately."""
        return cls.objects.filter(kind=kind, seen_at__gt=ago(SILENT_AFTER_SECONDS))

    @property
    def is_alive(self) -> bool:
        return database_now() - self.seen_at < timedelta(seconds=SILENT_AFTER_SECONDS)

    @property
    def clock_ahead(self) -> float:
        """Seconds that this process's clock is before the database's; negative if behind."""
        return (self.own_clock - self.seen_at).total_seconds()

    @property
    def clock_is_off(self) -> bool:
        return abs(self.clock_ahead) > settings.CLOCK_TOLERANCE_SECONDS
