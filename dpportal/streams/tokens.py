"""What opens a stream to a program: for a while, at a bounded rate, and only while who made it may publish."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, timedelta

from django.db import transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now, TruncMinute
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.datasets.access import require_releaser
from dpportal.platform import keys
from dpportal.streams.models import Stream, Token

LIFETIME = timedelta(days=90)
REQUESTS_PER_MINUTE = 60


class TokenRefusedError(Exception):
    """A right token that opens nothing now; the message says why and what to do."""


class TooManyRequestsError(Exception):
    """A program that asks too often. wait: seconds until it may go on."""

    def __init__(self, wait: int) -> None:
        text = _("At most %(limit)s requests a minute are answered. Send this one again in %(wait)s seconds.")
        super().__init__(text % {"limit": REQUESTS_PER_MINUTE, "wait": wait})
        self.wait = wait


def renew(stream: Stream, by: User) -> str:
    """A new token, with which a program acts for this person; the one before it opens nothing any more.

    In the caller's transaction.
    """
    token = keys.new_token()
    Stream.objects.filter(pk=stream.pk).update(token_sha256=_digest(token))
    fresh = {
        "by": by,
        "expires_at": timezone.now() + LIFETIME,
        "used_at": None,
        "minute": None,
        "requests": 0,
    }
    Token.objects.update_or_create(stream=stream, defaults=fresh)
    return token


def opens(token: str, stream: Stream | None) -> bool:
    """Whether a token is this stream's; as slow for a stream that does not exist."""
    stored = stream.token_sha256 if stream is not None else ""
    return hmac.compare_digest(_digest(token), stored or "0" * 64)


def admit(stream: Stream) -> None:
    """Count a request with the right token. Raises TokenRefusedError or TooManyRequestsError."""
    token = Token.objects.filter(stream=stream).first()
    if token is not None:
        with transaction.atomic():
            require_releaser(stream.dataset, token.by_id, TokenRefusedError)
    if token is None or token.has_expired:
        raise TokenRefusedError(
            _("This token has expired. Its curator can make a new one on the stream's page.")
        )
    if not _counted(stream):
        raise TooManyRequestsError(wait=60 - timezone.now().second)


def _counted(stream: Stream) -> bool:
    """Whether this minute has room for the request. By the database's clock, which all machines share."""
    now = TruncMinute(Now(), tzinfo=UTC)
    has_room = ~Q(minute=now) | Q(requests__lt=REQUESTS_PER_MINUTE)
    count = Case(When(minute=now, then=F("requests") + 1), default=1)
    admitting = Token.objects.filter(has_room, stream=stream)
    return admitting.update(requests=count, minute=now, used_at=Now()) == 1


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
