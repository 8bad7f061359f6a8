"""Whoever has a password that somebody else has seen chooses another before any other page opens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dpportal.accounts.models import User
from dpportal.platform.middleware import Middleware

# Beside them nothing opens: the form, and the way out.
OPEN = ("accounts:password_change", "accounts:sign_out", "accounts:language")


class FirstPassword(Middleware):
    """Sends such a person to the form for a new password, whatever page was asked for."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        person = request.user
        if (
            isinstance(person, User)
            and person.must_change_password
            and request.path not in map(reverse, OPEN)
        ):
            if "HX-Request" in request.headers:
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect("accounts:password_change")
        return self.get_response(request)
