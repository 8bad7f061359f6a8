"""A person's own second factors, and the administrators' rule of who needs one."""

from __future__ import annotations

import segno
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.factors import passkeys, proof, recovery, rules, totp
from dpportal.accounts.factors.overview import Factors, has_any
from dpportal.accounts.factors.passkeys import PasskeyError
from dpportal.accounts.forms import CodeForm, PasskeyForm, SecondFactorRuleForm
from dpportal.accounts.models import ProviderIdentity, Role
from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.accounts.recent_sign_in import recent_sign_in_required
from dpportal.accounts.sign_ins import How


@login_required
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What the person has, and what there is."""
    person = current_user(request)
    context = {
        "factors": Factors.of(person),
        "passkey_form": PasskeyForm(),
        "is_missing": rules.is_missing(request),
        "passkeys_can_be_used": passkeys.can_be_used(request),
        "provider": settings.IDENTITY_PROVIDER,
        "identity": ProviderIdentity.of(person),
    }
    return render(request, "accounts/factors.html", context)


@recent_sign_in_required
@require_POST
@proof.one_at_a_time
def begin_app(request: HttpRequest) -> HttpResponse:
    """Make a secret for an app."""
    totp.begin(current_user(request))
    return redirect("accounts:confirm_app")


@recent_sign_in_required
@proof.one_at_a_time
def confirm_app(request: HttpRequest) -> HttpResponse:
    """The secret as a picture, and the field for its first code."""
    person = current_user(request)
    form, secret = CodeForm(request.POST or None), totp.unconfirmed(person)
    if not secret:
        return redirect("accounts:factors")
    if request.method == "POST" and form.is_valid():
        if totp.confirm(person, form.cleaned_data["code"].replace(" ", "")):
            return _added(request, How.CODE)
        form.add_error(
            "code", _("This is no code of now. Type the one that the app shows, and check the clock.")
        )
    picture = segno.make(totp.address(person, secret), error="m")
    context = {
        "form": form,
        "secret": secret,
        "picture": picture.svg_data_uri(scale=4, light="white", encode_minimal=True),
    }
    return render(request, "accounts/confirm_app.html", context)


def _added(request: HttpRequest, how: How) -> HttpResponse:
    """The page after something was set up; recovery codes come with the first. how: what it proves in this session."""
    proof.give(request, how)
    messages.success(request, _("Set up. You are asked for it at the next sign-in."))
    if not Factors.of(current_user(request)).codes:
        return _codes_page(request)
    return redirect("accounts:factors")


def _codes_page(request: HttpRequest) -> HttpResponse:
    codes = recovery.make(current_user(request))
    return render(request, "accounts/recovery_codes.html", {"codes": codes})


@recent_sign_in_required
@require_POST
@proof.one_at_a_time
def new_codes(request: HttpRequest) -> HttpResponse:
    """Recovery codes in place of the former ones, shown once."""
    if not has_any(current_user(request)):
        return redirect("accounts:factors")
    return _codes_page(request)


@recent_sign_in_required
@require_POST
def passkey_options(request: HttpRequest) -> JsonResponse:
    """What a device is to make."""
    return JsonResponse(passkeys.options_to_add(request, current_user(request)))


@recent_sign_in_required
@require_POST
@proof.one_at_a_time
def add_passkey(request: HttpRequest) -> HttpResponse:
    """Keep what a device has made."""
    form = PasskeyForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing was saved. Give the passkey a name of up to 60 characters."))
        return redirect("accounts:factors")
    try:
        passkeys.add(request, current_user(request), form.cleaned_data["name"], form.cleaned_data["answer"])
    except PasskeyError as fault:
        messages.error(request, str(fault))
        return redirect("accounts:factors")
    return _added(request, How.KEY)


@recent_sign_in_required
@require_POST
@proof.one_at_a_time
def remove(request: HttpRequest) -> HttpResponse:
    """Forget the app or a passkey; not the last one of who needs one."""
    person, which = current_user(request), request.POST.get("which", "")
    if Factors.of(person).is_last and rules.is_needed(person):
        messages.error(request, _("Your role needs one. Set up another first, then remove this."))
    elif which == "app":
        totp.remove(person)
    elif which.isdecimal():
        passkeys.remove(person, int(which[:18]))
    return redirect("accounts:factors")


@administrator_required
def rule(request: HttpRequest) -> HttpResponse:
    """Which roles need a second factor."""
    sent = request.POST if request.method == "POST" else None
    form = SecondFactorRuleForm(sent, initial={"roles": sorted(rules.roles())})
    if form.is_valid():
        rules.set_roles(form.cleaned_data["roles"], current_user(request))
        messages.success(request, _("Saved. It holds at once."))
        return redirect("accounts:second_factor_rule")
    names = [Role(role).label for role in sorted(rules.roles())]
    return render(request, "accounts/rule.html", {"form": form, "names": names, "nav_section": "office"})
