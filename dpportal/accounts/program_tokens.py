"""Tokens with which programs act for a person: for a while, and at a bounded rate."""

from __future__ import annotations

import hashlib
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now, TruncMinute
from django.utils import timezone
from django.utils.translation import ngettext

LIFETIME = timedelta(days=90)


class TooManyRequestsError(Exception):
    """A program that asks too often. wait: seconds until it may go on."""

    def __init__(self, limit: int, wait: int) -> None:
        text = ngettext(
            "At most %(limit)s requests a minute are answered. Send this one again in %(wait)s second.",
            "At most %(limit)s requests a minute are answered. Send this one again in %(wait)s seconds.",
            wait,
        )
        super().__init__(text % {"limit": limit, "wait": wait})
        self.wait = wait


class ProgramToken(models.Model):
    """Until when a token works, and how it was used; its digest is stored, and never the token itself.

    by: whom a program acts for. minute, requests: of the last request, and how many there were in that minute.
    """

    if TYPE_CHECKING:
        by_id: int

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    minute = models.DateTimeField(null=True)
    requests = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def count(tokens: models.QuerySet[Any], limit: int) -> None:
    """Count a request with a token, the only row of `tokens`. Raises TooManyRequestsError beyond `limit` a minute.

    By the database's clock, which all machines share.
    """
    now = TruncMinute(Now(), tzinfo=UTC)
    has_room = ~Q(minute=now) | Q(requests__lt=limit)
    requests = Case(When(minute=now, then=F("requests") + 1), default=1)
    if not tokens.filter(has_room).update(requests=requests, minute=now, used_at=Now()):
        raise TooManyRequestsError(limit, wait=60 - timezone.now().second)
