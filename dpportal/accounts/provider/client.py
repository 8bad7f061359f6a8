"""What the portal says to the institution's provider, and what it believes of the answer (OpenID Connect Core 1.0)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.platform.bulkhead import PROVIDER, HangsError
from dpportal.platform.identity_provider import IdentityProvider

if TYPE_CHECKING:
    from authlib.integrations.django_client import DjangoOAuth2App

log = logging.getLogger(__name__)
T = TypeVar("T")
# Of one question to the provider; a sign-in asks it two or three.
TIMEOUT_SECONDS = 4
Claims = Mapping[str, Any]


class ProviderError(Exception):
    """The sign-in did not work; the message says what to do."""


def to_provider(request: HttpRequest, provider: IdentityProvider) -> HttpResponse:
    """Send the browser to the provider, with a state and a nonce that the session keeps. Raises ProviderError."""
    back = request.build_absolute_uri(reverse("accounts:provider_answer"))
    if not request.user.is_authenticated:
        request.session.set_expiry(600)
    answer: HttpResponse = _asked(lambda: _trusted(provider).authorize_redirect(request, back))
    return answer


def claims_of(request: HttpRequest, provider: IdentityProvider) -> Claims:
    """What the provider says of whoever it sent here: signature, issuer, audience, times and nonce are checked.

    Raises ProviderError.
    """
    request.session.get("_")  # read before other threads do, which have no connection to the database
    return _asked(lambda: _exchanged(request, provider))


def subject_of(claims: Claims) -> str:
    """The provider's own key for a person, of at most 255 letters and signs (section 2). Raises ProviderError."""
    subject = claims.get("sub")
    if not (isinstance(subject, str) and subject and len(subject) <= 255 and subject.isprintable()):
        raise ProviderError(
            _("Your institution's sign-in does not say who you are. Ask an administrator of the portal.")
        )
    return subject


def _exchanged(request: HttpRequest, provider: IdentityProvider) -> Claims:
    client = _trusted(provider)
    token = client.authorize_access_token(request)
    claims: Claims = token["userinfo"]
    if provider.claim in claims or not client.load_server_metadata().get("userinfo_endpoint"):
        return claims
    more = client.userinfo(token=token)
    if more.get("sub") != claims["sub"]:
        raise ValueError("the provider answered for another person")
    return {**more, **claims}


def _trusted(provider: IdentityProvider) -> DjangoOAuth2App:
    """The client, once the provider's description of itself names the issuer that the site named."""
    client = _client(provider)
    if client.load_server_metadata().get("issuer") != provider.issuer:
        _client.cache_clear()
        raise ValueError("the provider calls itself by another name")
    return client


@lru_cache(maxsize=2)
def _client(provider: IdentityProvider) -> DjangoOAuth2App:
    from authlib.integrations.django_client import OAuth

    return OAuth().register(
        "provider",
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": provider.scope,
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
        },
    )


def _asked(question: Callable[[], T]) -> T:
    """What a question to the provider gives, asked where it keeps few threads waiting. Raises ProviderError."""
    import requests
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError

    faults = (HangsError, AuthlibBaseError, JoseError, requests.RequestException)
    try:
        return PROVIDER.call(question)
    except (*faults, ValueError, KeyError, TypeError, RuntimeError) as fault:
        # Its message may hold what the provider says of a person.
        log.warning("the institution's sign-in failed: %s", type(fault).__name__)
        text = _(
            "The sign-in by your institution did not work. Try again; if it fails again, ask an administrator."
        )
        raise ProviderError(text) from None
