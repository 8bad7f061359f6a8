"""Where notices go: mail that a person chose, webhooks, their deliveries, and the hosts that may be called."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.history.watched import WatchedManager
from dpportal.jobs.claims import Job
from dpportal.notices.events import CHOICES, EventKind
from dpportal.notices.outbound import HTTPS_PORT, with_port
from dpportal.platform.sealed import SealedField


def kind_labels(kinds: list[str]) -> list[str]:
    """What chosen kinds of events are called."""
    return [str(label) for value, label in CHOICES if value in kinds]


class AllowedHost(models.Model):
    """A host that webhooks may call, by exact name and port. Written by `hosts` only.

    plain: also without encryption (http). private: also where its name leads into a private network.
    """

    host = models.CharField(_("host"), max_length=253)
    port = models.PositiveIntegerField(_("port"), default=HTTPS_PORT)
    plain = models.BooleanField(_("also by http"), default=False)
    private = models.BooleanField(_("also in a private network"), default=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = WatchedManager()

    class Meta:
        ordering = ["host", "port"]
        constraints = [models.UniqueConstraint(fields=["host", "port"], name="one_line_for_a_host")]

    def __str__(self) -> str:
        return with_port(self.host, self.port)


class MailChoice(models.Model):
    """The events of which a person wants mail; who chose nothing has no row, see `announcing.MAILED_AT_FIRST`.

    origin: the portal's, as the person saw it then, so that mail can lead back to a page.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="mail_choice"
    )
    kinds = models.JSONField(default=list)
    origin = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"mail choice of {self.person_id}"


class Webhook(models.Model):
    """An address that a program of a person's listens at. Written by `services` only.

    address: sealed, since many have a password in their path. secret: signs what is sent.
    origin: the portal's, as its person saw it. failing_since: of one that took nothing since, by the database's clock.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    address = SealedField(null=True)
    kinds = models.JSONField(default=list)
    secret = SealedField(null=True)
    origin = models.CharField(max_length=300)
    paused = models.BooleanField(default=False)
    failing_since = models.DateTimeField(null=True)
    added_at = models.DateTimeField(auto_now_add=True)

    objects = WatchedManager()

    class Meta:
        ordering = ["added_at"]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def kind_labels(self) -> list[str]:
        """What it hears of."""
        return kind_labels(self.kinds)


class Delivery(Job):
    """The job that tells a webhook of one event. body: exactly what is sent, with the id of this row, each time.

    tries: how often it was sent, or could not be. status: of the last answer. fault: why it did not arrive.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=20, choices=EventKind.choices)
    body = models.TextField()
    tries = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)
    fault = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta(Job.Meta):
        ordering = ["-at"]

    def __str__(self) -> str:
        return gettext("Webhook: %(kind)s") % {"kind": dict(EventKind.choices).get(self.kind, self.kind)}

    @property
    def shown_fault(self) -> str:
        """Why it did not arrive, or why it was given up."""
        return self.failure or self.fault
