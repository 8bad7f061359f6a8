"""After some wrong passwords for a name from one address, that name waits there; an administrator can end the wait."""

from __future__ import annotations

from typing import Any

from axes.helpers import get_cool_off
from axes.utils import reset
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dpportal.accounts import audit
from dpportal.accounts.models import User


def locked_page(request: HttpRequest, _refused: HttpResponse, _credentials: Any) -> HttpResponse:
    """The answer in place of the sign-in page; whether the name exists makes no difference to it."""
    wait = int(get_cool_off(request).total_seconds())
    response = render(request, "accounts/locked.html", {"minutes": -(-wait // 60)}, status=429)
    response["Retry-After"] = str(wait)
    return response


def unlock(user: User, by: User) -> None:
    """Let an account try again from everywhere, at once."""
    reset(username=user.get_username())
    audit.record(by, "unlocked signing in", user)
