"""Which processes of the portal are alive, on whatever machine."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from dpportal.jobs import queues
from dpportal.jobs.clock import db_ago

# The same on every machine, whatever its settings, since one machine's sweep looks at another's workers.
BEAT_SECONDS, SILENT_AFTER_SECONDS = 5.0, 30.0
# A sweep beats once a round, whose work it has done by then.
SWEEP_SILENT_AFTER_SECONDS = 120.0


class HeartbeatManager(models.Manager["Heartbeat"]):
    """Each row with `is_alive`: whether it beat lately, by the database's clock."""

    def get_queryset(self) -> models.QuerySet[Heartbeat]:
        is_alive = models.ExpressionWrapper(_heard_of_lately(), output_field=models.BooleanField())
        return super().get_queryset().annotate(is_alive=is_alive)


class Heartbeat(models.Model):
    """A worker's last sign of life, or the end of a sweep's last round, by the database's clock.

    Written by `heartbeat` only.
    """

    class Kind(models.TextChoices):
        WORKER = "worker", _("Worker")
        SWEEP = "sweep", _("Sweep")

    name = models.CharField(max_length=200, primary_key=True)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    # What this process's own clock said at `seen_at`.
    own_clock = models.DateTimeField()
    # The queues that a worker listens to, and whether it could take no further job at `seen_at`.
    queues = models.JSONField(default=list)
    busy = models.BooleanField(default=False)
    # What kept its machine from taking jobs at `seen_at`; empty if nothing did.
    obstacle = models.TextField(blank=True, default="")

    objects = HeartbeatManager()

    class Meta:
        ordering = ["kind", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def takes(self) -> list[str]:
        """What waits in its queues, for people."""
        return [str(queues.TITLES.get(name, name)) for name in self.queues]

    @classmethod
    def alive(cls, kind: str) -> models.QuerySet[Heartbeat]:
        """The processes of this kind that beat lately."""
        return cls.objects.filter(_heard_of_lately(), kind=kind)

    @classmethod
    def can_work(cls) -> bool:
        """Whether a worker lives that nothing stops."""
        return cls.alive(cls.Kind.WORKER).filter(obstacle="").exists()

    @property
    def clock_ahead(self) -> float:
        """Seconds that this process's clock is before the database's; negative if behind."""
        return (self.own_clock - self.seen_at).total_seconds()

    @property
    def clock_is_off(self) -> bool:
        return abs(self.clock_ahead) > settings.CLOCK_TOLERANCE_SECONDS


def _heard_of_lately() -> models.Q:
    is_sweep = models.Q(kind=Heartbeat.Kind.SWEEP, seen_at__gt=db_ago(SWEEP_SILENT_AFTER_SECONDS))
    return is_sweep | models.Q(seen_at__gt=db_ago(SILENT_AFTER_SECONDS))
