"""Tokens of the API: made and revoked by their person, stored as digests, for a while, at a bounded rate."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop
from ninja.errors import AuthenticationError

from dpportal.accounts import audit, people, program_tokens
from dpportal.accounts.factors import rules
from dpportal.accounts.models import User
from dpportal.accounts.provider import standing
from dpportal.api.models import ApiToken, Scope
from dpportal.history import watched
from dpportal.platform import keys
from dpportal.streams import tokens as stream_tokens

REQUESTS_PER_MINUTE = 120
# By it a token is recognised where it should not stand, such as in a public repository.
PREFIX = "dpp_"


@transaction.atomic
def make(
    by: User, name: str, scope: Scope, days: int, limit: Decimal | None = None, counted_in: str = "pure"
) -> tuple[ApiToken, str]:
    """A new token, and the text that is shown this once. limit: what may be spent by it, in ε or ρ."""
    text = PREFIX + keys.new_token()
    token = ApiToken.objects.create(
        by=by,
        name=name,
        sha256=program_tokens.digest(text),
        scope=scope,
        limit=None if scope == Scope.READ else limit,
        counted_in=counted_in,
        expires_at=timezone.now() + timedelta(days=days),
    )
    audit.record(by, "made a token", token, f"{token.scope} {token.limit_text}".strip())
    people.note(by, by, gettext_noop("made a token for programs"), name, alarming=True)
    return token, text


@transaction.atomic
def revoke(token: ApiToken, by: User) -> bool:
    """Have it open nothing any more, nor what was made with it. Returns whether it was not revoked before."""
    working = ApiToken.objects.filter(pk=token.pk, revoked_at=None)
    if not working.update(revoked_at=timezone.now()):
        return False
    stream_tokens.end_tokens_of_program(token)
    audit.record(by, gettext_noop("revoked a token"), token)
    return True


def locked_token(token: ApiToken) -> ApiToken:
    """A token that was let in, kept from being revoked until the caller's transaction ends.

    Raises AuthenticationError if that has happened meanwhile.
    """
    own = ApiToken.objects.select_for_update().get(pk=token.pk)
    if not own.works:
        raise AuthenticationError
    return own


def working_token(text: str) -> ApiToken | None:
    """The token that was sent, if it works, and nothing is to be done by its person before."""
    token = _working(text)
    return token if token and not _waits_for(token.by) else None


def why_not(text: str) -> str:
    """Why a token that was made opens nothing any more, or nothing now, for its program; empty for every other one."""
    token = _token_of(text)
    if token is None:
        return ""
    if token.is_revoked:
        return _("This token was revoked. Make another one on the page “Tokens” of your account.")
    if token.has_expired:
        expired = _("This token expired on %(day)s. Make another one on the page “Tokens” of your account.")
        return expired % {"day": timezone.localdate(token.expires_at).isoformat()}
    return _waits_for(token.by) if _is_in_office(token.by) else ""


def _waits_for(person: User) -> str:
    """What the person has to do first; empty if nothing."""
    if standing.has_lapsed(person):
        return standing.lapsed_text()
    return rules.missing_text() if rules.stops_programs_of(person) else ""


def _working(text: str) -> ApiToken | None:
    token = _token_of(text)
    return token if token and token.works and _is_in_office(token.by) else None


def _token_of(text: str) -> ApiToken | None:
    """The token of this text, whether it works or not; none if it or its person was changed past the portal."""
    token = ApiToken.objects.filter(sha256=program_tokens.digest(text)).select_related("by").first()
    is_own = token is not None and watched.is_written(token) and watched.is_written(token.by)
    return token if is_own else None


def _is_in_office(person: User) -> bool:
    return person.is_active and person.is_curator


def count(token: ApiToken) -> None:
    """Count a request with it. Raises TooManyRequestsError."""
    program_tokens.count(ApiToken.objects.filter(pk=token.pk), REQUESTS_PER_MINUTE)
