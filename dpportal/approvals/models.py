"""Acts that wait for a second person."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dpportal.history.watched import WatchedManager


class Approval(models.Model):
    """An act that somebody asked for, and what a second person said. Written by `approvals.services` only.

    kind: one of `acts`. subject: the key of what it is done to. arguments: what it is done with, as it was asked for.
    summary: what is read before it is answered; it may name columns. recorded: what the audit record says of it, which
    nobody can take back and so names none. address: where whoever asked goes on.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        APPROVED = "approved", _("approved and done")
        REFUSED = "refused", _("refused")
        EXPIRED = "expired", _("expired")
        OUTDATED = "outdated", _("approved, but not possible any more")
        REPLACED = "replaced", _("replaced by a later request")

    kind = models.CharField(max_length=20)
    subject = models.CharField(max_length=64)
    arguments = models.JSONField(default=dict)
    summary = models.TextField()
    recorded = models.TextField(default="")
    address = models.CharField(max_length=200)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    answer = models.CharField(max_length=500, blank=True)
    answered_at = models.DateTimeField(null=True)

    objects = WatchedManager()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(state="waiting"), name="one_waiting_approval"
            ),
            models.CheckConstraint(
                condition=Q(answered_by__isnull=True) | ~Q(answered_by=models.F("by")),
                name="nobody_answers_their_own_request",
            ),
        ]
        indexes = [models.Index(fields=["kind", "subject", "-at"], name="approval_subject")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject}"

    @property
    def is_waiting(self) -> bool:
        """Whether somebody can still answer it."""
        return self.state == self.State.WAITING and self.expires_at > timezone.now()

    @property
    def is_ended_undone(self) -> bool:
        """Whether it ended, and nothing was done."""
        is_late = self.state == self.State.WAITING and not self.is_waiting
        return is_late or self.state in (self.State.REFUSED, self.State.EXPIRED, self.State.OUTDATED)
