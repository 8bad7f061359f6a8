"""Which roles need a second factor, and how people without one are led to it."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.factors.overview import has_any
from dpportal.accounts.models import Role, SecondFactorRule, User
from dpportal.accounts.session_store import HOW
from dpportal.accounts.sign_ins import How
from dpportal.platform.middleware import Middleware

# Opens all the same: where one is set up, the way out, and a password that has to be changed first.
OPEN = ("accounts:sign_out", "accounts:language", "accounts:password_change", "accounts:password_changed")


def roles() -> set[str]:
    """Those that need one."""
    return set(SecondFactorRule.objects.values_list("role", flat=True))


def is_needed(person: User) -> bool:
    """Whether the person's role needs one."""
    return SecondFactorRule.objects.filter(role=person.role).exists()


@transaction.atomic
def set_roles(chosen: Collection[str], by: User) -> None:
    """Have these roles need one, and no other, from now on: in sessions and for tokens that were there before, too."""
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


def lacks_one(person: User) -> bool:
    """Whether the person's role needs one, and the person has none."""
    return is_needed(person) and not has_any(person)


def stops_programs_of(person: User) -> bool:
    """Whether tokens of the person open nothing until one is set up.

    One who has no password signs in by the institution alone, which asks its people for whatever it wants itself.
    """
    return person.has_usable_password() and lacks_one(person)


def missing_text() -> str:
    """Why a program is refused, and what its person can do."""
    return _(
        "The role of this token's person needs a second factor, and the person has none, so the token waits. It works "
        "again once the person has set one up on the page “Second factors” of their account."
    )


def is_missing(request: HttpRequest) -> bool:
    """Whether this session's person has to set one up before anything else.

    Asked anew each time: a rule, another role and the loss of a factor reach sessions that were open before.
    """
    person = request.user
    if not isinstance(person, User) or request.session.get(HOW) == How.PROVIDER:
        return False
    return lacks_one(person)


class SecondFactor(Middleware):
    """Leads whoever has to set one up there, whatever page was asked for."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _opens(request.path) and is_missing(request):
            if "HX-Request" in request.headers:
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect("accounts:factors")
        return self.get_response(request)


def _opens(path: str) -> bool:
    return path.startswith(reverse("accounts:factors")) or path in map(reverse, OPEN)
