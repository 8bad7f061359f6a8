"""The way to the institution's provider, and back."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET

from dpportal.accounts import sign_ins
from dpportal.accounts.provider import client
from dpportal.accounts.provider.arrivals import person_of
from dpportal.accounts.provider.client import ProviderError
from dpportal.accounts.sign_ins import How
from dpportal.platform.identity_provider import IdentityProvider

# Where the session keeps the page that was asked for.
NEXT = "provider_next"


@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """To the provider."""
    wanted = request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    provider = _provider()
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    try:
        answer = client.to_provider(request, provider)
    except ProviderError as fault:
        return _refused(request, fault)
    request.session[NEXT] = wanted if is_own else ""
    return answer


@require_GET
def answer(request: HttpRequest) -> HttpResponse:
    """Back from the provider: who it says that it is, is signed in."""
    provider = _provider()
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    try:
        person = person_of(client.claims_of(request, provider), provider)
    except ProviderError as fault:
        return _refused(request, fault)
    wanted = request.session.get(NEXT, "")
    sign_ins.begin(request, person, How.PROVIDER)
    return redirect(wanted or resolve_url(settings.LOGIN_REDIRECT_URL))


def _provider() -> IdentityProvider:
    if settings.IDENTITY_PROVIDER is None:
        raise Http404
    return settings.IDENTITY_PROVIDER


def _refused(request: HttpRequest, fault: ProviderError) -> HttpResponse:
    messages.error(request, str(fault))
    return redirect("accounts:sign_in")
