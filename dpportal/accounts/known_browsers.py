"""A browser that a person signed in with before is remembered there by a signed cookie, so that strangers' wrong
passwords lock that person out nowhere but at the strangers' own places.

Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

from dpportal.accounts.models import User
from dpportal.platform.middleware import Middleware

# Where the name of whoever has just signed in waits for the answer.
SIGNED_IN = "dpportal.signed_in"
SECONDS = 90 * 24 * 3600


def connect() -> None:
    """A successful sign-in makes a browser known."""
    user_logged_in.connect(_signed_in, dispatch_uid="browser known")


def known_as(request: HttpRequest, name: str | None) -> str | None:
    """The identity of this browser, if the person with this name signed in with it lately."""
    try:
        return _signer(name or "").unsign(
            request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, ""), max_age=SECONDS
        )
    except BadSignature:
        return None


def _signer(name: str) -> TimestampSigner:
    """The name is in the signature alone: the cookie tells nobody whose it is."""
    return TimestampSigner(salt=f"{__name__}:{name}")


def _signed_in(sender: object, request: HttpRequest, user: User, **_kwargs: object) -> None:
    request.META[SIGNED_IN] = user.get_username()


class KnownBrowser(Middleware):
    """Gives the cookie to a browser in which somebody has just signed in."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if name := request.META.get(SIGNED_IN):
            identity = known_as(request, name) or get_random_string(32)
            response.set_cookie(
                settings.KNOWN_BROWSER_COOKIE_NAME,
                _signer(name).sign(identity),
                max_age=SECONDS,
                secure=bool(settings.SESSION_COOKIE_SECURE),
                httponly=True,
                samesite="Lax",
            )
        return response
