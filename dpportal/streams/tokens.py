"""What opens a stream to a program: for a while, at a bounded rate, and only while who made it may publish."""

from __future__ import annotations

import hmac

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts import program_tokens
from dpportal.accounts.factors import rules
from dpportal.accounts.models import User
from dpportal.accounts.program_tokens import LIFETIME, ProgramToken, digest
from dpportal.accounts.provider import standing
from dpportal.datasets.access import require_releaser
from dpportal.history import watched
from dpportal.platform import keys
from dpportal.streams.models import Stream, Token

REQUESTS_PER_MINUTE = 60


class TokenRefusedError(Exception):
    """A right token that opens nothing now; the message says why and what to do."""

    status = 403


class WaitingError(TokenRefusedError):
    """The token's person has to sign in by the institution again, or to set up a second factor."""

    status = 401


def renew(stream: Stream, by: User, program_token: ProgramToken | None = None) -> str:
    """A new token, with which a program acts for this person; the one before it opens nothing any more.

    program_token: the token of a program that asks for it, which it does not outlive. In the caller's transaction.
    """
    token = keys.new_token()
    Stream.objects.filter(pk=stream.pk).update(token_sha256=digest(token))
    latest = timezone.now() + LIFETIME
    fresh = {
        "by": by,
        "made_with": program_token and program_token.pk,
        "expires_at": min(latest, program_token.expires_at) if program_token else latest,
        "used_at": None,
        "minute": None,
        "requests": 0,
    }
    Token.objects.update_or_create(stream=stream, defaults=fresh)
    return token


def end_tokens_of_program(token: ProgramToken) -> None:
    """Have those open nothing any more that a program asked for with this token."""
    Stream.objects.filter(token__made_with=token.pk).update(token_sha256="")


def opens(token: str, stream: Stream | None) -> bool:
    """Whether a token is this stream's, given by the portal; as slow to tell for a stream that does not exist."""
    stored = stream.token_sha256 if stream is not None else ""
    is_same = hmac.compare_digest(digest(token), stored or "0" * 64)
    return is_same and stream is not None and watched.is_written(stream, "token_sha256")


def admit(stream: Stream) -> None:
    """Count a request with the right token. Raises TokenRefusedError or TooManyRequestsError."""
    token = Token.objects.filter(stream=stream).select_related("by").first()
    if token is not None:
        with transaction.atomic():
            require_releaser(stream.dataset, token.by_id, TokenRefusedError)
        if standing.has_lapsed(token.by):
            raise WaitingError(standing.lapsed_text())
        if rules.stops_programs_of(token.by):
            raise WaitingError(rules.missing_text())
    if token is None or token.has_expired:
        raise TokenRefusedError(
            _("This token has expired. Its curator can make a new one on the running count's page.")
        )
    program_tokens.count(Token.objects.filter(stream=stream), REQUESTS_PER_MINUTE)
