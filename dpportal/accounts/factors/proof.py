"""Whoever has a second factor proves one in every session, in those that a password alone had opened before, too."""

from __future__ import annotations

from functools import wraps

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from dpportal.accounts import sessions
from dpportal.accounts.factors import second_step
from dpportal.accounts.factors.overview import has_any
from dpportal.accounts.models import User
from dpportal.accounts.permissions import View, current_user
from dpportal.accounts.session_store import HOW
from dpportal.accounts.sign_ins import How
from dpportal.platform.middleware import Middleware

# The institution asks its people for whatever it wants itself.
PROVING = {How.CODE, How.KEY, How.RECOVERY, How.PASSKEY, How.PROVIDER}


def is_proved(request: HttpRequest) -> bool:
    """Whether the person of this session has given more than a password in it."""
    return request.session.get(HOW) in PROVING


@transaction.atomic
def give(request: HttpRequest, how: How) -> None:
    """Have setting one up prove it in this session; all others of the person end, if a password alone opened this."""
    if not is_proved(request):
        request.session[HOW] = how.value
        sessions.end_others(current_user(request), request.session.session_key)


def one_at_a_time(view: View) -> View:
    """Have what changes the ways in of a person wait for each other, and ask for a proof again once it is their turn.

    Another session may have set up the first factor since the middleware let this request pass: then a password alone
    adds no second one, and reads no recovery codes. For views of a person who is signed in.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        with transaction.atomic():
            person = User.objects.select_for_update(no_key=True).get(pk=current_user(request).pk)
            if is_proved(request) or not has_any(person):
                return view(request, *args, **kwargs)
        return _to_second_step(request, person)

    return guarded


def _to_second_step(request: HttpRequest, person: User) -> HttpResponse:
    """Make this a session of nobody who waits for it."""
    second_step.begin(request, person, request.get_full_path() if request.method == "GET" else "")
    return redirect("accounts:second_step")


class ProvedFactor(Middleware):
    """Makes a session without such a proof one of nobody that waits for the second step, whatever was asked for."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        person = request.user
        if not isinstance(person, User) or is_proved(request) or request.path == reverse("accounts:sign_out"):
            return self.get_response(request)
        if not has_any(person):
            return self.get_response(request)
        if "HX-Request" in request.headers:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        return _to_second_step(request, person)
