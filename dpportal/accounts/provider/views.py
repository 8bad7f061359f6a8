"""The way to the institution's provider, and back."""

from __future__ import annotations

import time

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts import sign_ins
from dpportal.accounts.factors.proof import one_at_a_time
from dpportal.accounts.permissions import current_user
from dpportal.accounts.provider import client, linking
from dpportal.accounts.provider.arrivals import person_of
from dpportal.accounts.provider.client import Claims, ProviderError
from dpportal.accounts.recent_sign_in import recent_sign_in_required
from dpportal.accounts.sign_ins import How
from dpportal.platform.identity_provider import IdentityProvider

# Where the session keeps the page that was asked for, and when its person wanted to be linked.
NEXT, LINKING = "provider_next", "provider_linking"
# So long the provider may take to answer that.
LINKING_SECONDS = 600


@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """To the provider."""
    target = request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    provider = _provider()
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    if request.headers.get("Sec-Fetch-Site") == "cross-site":  # no other site's link signs anybody in
        return redirect("accounts:sign_in")
    try:
        answer = client.to_provider(request, provider)
    except ProviderError as fault:
        return _refused(request, fault)
    request.session[NEXT] = target if is_own else ""
    return answer


@recent_sign_in_required
@require_POST
def link(request: HttpRequest) -> HttpResponse:
    """To the provider, for somebody who is signed in here and wants to be linked to who they are there."""
    try:
        answer = client.to_provider(request, _provider())
    except ProviderError as fault:
        messages.error(request, str(fault))
        return redirect("accounts:factors")
    request.session[LINKING] = int(time.time())
    return answer


@recent_sign_in_required
@require_POST
def unlink(request: HttpRequest) -> HttpResponse:
    """Forget who the person is at the provider."""
    if linking.unlink(current_user(request)):
        messages.success(request, _("Removed. You sign in with your password from now on."))
    else:
        messages.error(
            request,
            _("Nothing was removed: without a password of this portal you could not sign in any more."),
        )
    return redirect("accounts:factors")


@require_GET
def answer(request: HttpRequest) -> HttpResponseBase:
    """Back from the provider: who it says that it is, is signed in, or linked to who is."""
    provider = _provider()
    if request.user.is_authenticated:
        return _linked(request, provider)
    try:
        person = person_of(client.claims_of(request, provider), provider)
    except ProviderError as fault:
        return _refused(request, fault)
    target = request.session.get(NEXT, "")
    sign_ins.begin(request, person, How.PROVIDER)
    return redirect(target or resolve_url(settings.LOGIN_REDIRECT_URL))


def _linked(request: HttpRequest, provider: IdentityProvider) -> HttpResponseBase:
    """Only for who asked for it in this session just now."""
    if abs(time.time() - request.session.pop(LINKING, 0)) > LINKING_SECONDS:
        return redirect(settings.LOGIN_REDIRECT_URL)
    try:
        claims = client.claims_of(request, provider)
    except ProviderError as fault:
        messages.error(request, str(fault))
        return redirect("accounts:factors")
    return _link(request, claims, provider)


@one_at_a_time
def _link(request: HttpRequest, claims: Claims, provider: IdentityProvider) -> HttpResponse:
    try:
        linking.link(current_user(request), claims, provider)
    except ProviderError as fault:
        messages.error(request, str(fault))
    else:
        messages.success(request, _("Linked. You can sign in by your institution from now on."))
    return redirect("accounts:factors")


def _provider() -> IdentityProvider:
    if settings.IDENTITY_PROVIDER is None:
        raise Http404
    return settings.IDENTITY_PROVIDER


def _refused(request: HttpRequest, fault: ProviderError) -> HttpResponse:
    messages.error(request, str(fault))
    return redirect("accounts:sign_in")
