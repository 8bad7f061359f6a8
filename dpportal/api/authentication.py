"""Who asks: a person by a token of theirs, or nobody."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from dpportal.accounts import sign_ins
from dpportal.accounts.models import User
from dpportal.api import tokens
from dpportal.api.models import ApiToken, Scope
from dpportal.api.problems import RefusedError
from dpportal.serving import request_body
from dpportal.serving.long_polling import is_repeated

BEARER = "bearer "
BY_TOKEN = {"WWW-Authenticate": "Bearer"}


class TokenAuth(HttpBearer):
    """Lets whoever has a token in as its person, where its scope is enough; a session opens nothing here."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.needed = scope

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """The token that was sent. Raises TooManyRequestsError, and RefusedError for one of too small a scope."""
        working = tokens.working_token(token)
        if working is None:
            if reason := tokens.why_not(token):
                raise RefusedError(401, reason, headers=BY_TOKEN)
            sign_ins.note_wrong_token(request)
            return None
        if not is_repeated(request):
            tokens.count(working)
        if not Scope(working.scope).opens(self.needed):
            raise RefusedError(403, _too_small(working, self.needed))
        request.user = working.by
        return working


def _too_small(token: ApiToken, needed: Scope) -> str:
    """Why a token does not open something."""
    text = _("This token does not open this: it is for “%(own)s”, and this needs “%(needed)s”.")
    return text % {"own": Scope(token.scope).label, "needed": needed.label}


def anybody(request: HttpRequest) -> bool:
    """Lets everyone in who sent no token: as a stranger, whoever may be signed in in a browser."""
    if "Authorization" in request.headers:
        return False
    request.user = AnonymousUser()
    return True


READ, RELEASE, ADMINISTER = TokenAuth(Scope.READ), TokenAuth(Scope.RELEASE), TokenAuth(Scope.ADMINISTER)
PUBLIC = [READ, anybody]


def person_of(request: HttpRequest) -> User | None:
    """Who sends a request, by its head alone: before its body is read."""
    token = tokens.working_token(_text_of(request))
    return token.by if token else None


def sender_of(request: HttpRequest) -> User | None:
    """Who sends a file. Raises the door's refusal where the token may not, before the file comes."""
    text = _text_of(request)
    token = tokens.working_token(text)
    if token is None and (reason := tokens.why_not(text)):
        raise request_body.BodyRefusedError(401, reason, BY_TOKEN)
    if token is not None and not Scope(token.scope).opens(Scope.ADMINISTER):
        raise request_body.BodyRefusedError(403, _too_small(token, Scope.ADMINISTER))
    return token.by if token else None


def _text_of(request: HttpRequest) -> str:
    """The token in a request's head; empty without one."""
    header = request.headers.get("Authorization", "")
    return header[len(BEARER) :].strip() if header[: len(BEARER)].lower() == BEARER else ""


def token_of(request: HttpRequest) -> ApiToken:
    """The token of a request that was let in by one."""
    token: ApiToken = request.auth  # type: ignore[attr-defined]
    return token
