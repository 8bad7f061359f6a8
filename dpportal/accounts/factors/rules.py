"""Which roles need a second factor, and how people without one are led to it."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dpportal.accounts import audit
from dpportal.accounts.factors.overview import Factors
from dpportal.accounts.models import Role, SecondFactorRule, User
from dpportal.accounts.sign_ins import How, how_of
from dpportal.platform.middleware import Middleware

# Where a session notes that its person has to set one up. Asked at the sign-in alone, so that no page asks again.
MISSING = "second_factor_missing"
# Opens all the same: where one is set up, the way out, and a password that has to be changed first.
OPEN = ("accounts:sign_out", "accounts:language", "accounts:password_change", "accounts:password_changed")


def connect() -> None:
    """Notice at each sign-in who has to set one up."""
    user_logged_in.connect(_signed_in, dispatch_uid="second factor missing")


def roles() -> set[str]:
    """Those that need one."""
    return set(SecondFactorRule.objects.values_list("role", flat=True))


def is_needed(person: User) -> bool:
    """Whether the person's role needs one."""
    return SecondFactorRule.objects.filter(role=person.role).exists()


@transaction.atomic
def set_roles(chosen: Collection[str], by: User) -> None:
    """Have these roles need one, and no other, from each person's next sign-in on."""
    before = roles()
    for role in Role.values:
        if (role in chosen) == (role in before):
            continue
        rule = SecondFactorRule(role=role)
        if role in chosen:
            rule.save()
            audit.record(by, "required a second factor", rule, role)
        else:
            SecondFactorRule.objects.filter(role=role).delete()
            audit.record(by, "no longer required one", rule, role)


def is_missing(request: HttpRequest) -> bool:
    """Whether this session's person has to set one up before anything else."""
    return bool(request.session.get(MISSING))


def have_one(request: HttpRequest) -> None:
    """Note that the person has set one up."""
    request.session.pop(MISSING, None)


def _signed_in(sender: object, request: HttpRequest, user: User, **_kwargs: object) -> None:
    """The institution's sign-in asks its people for whatever it wants itself."""
    if how_of(request) != How.PROVIDER and is_needed(user) and not Factors.of(user).is_any:
        request.session[MISSING] = True


class SecondFactor(Middleware):
    """Leads whoever has to set one up there, whatever page was asked for."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and is_missing(request) and not _opens(request.path):
            if "HX-Request" in request.headers:
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect("accounts:factors")
        return self.get_response(request)


def _opens(path: str) -> bool:
    return path.startswith(reverse("accounts:factors")) or path in map(reverse, OPEN)
