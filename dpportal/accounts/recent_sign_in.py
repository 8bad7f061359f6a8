"""What only somebody does who has signed in just now: whoever sits down at another person's open browser cannot."""

from __future__ import annotations

import time
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from dpportal.accounts.permissions import View
from dpportal.accounts.session_store import BEGAN

# Later than this a person must sign in again first.
RECENT_SECONDS = 900


def recent_sign_in_required(view: View) -> View:
    """Have a person sign in again first, unless that was just now."""

    @wraps(view)
    @login_required
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        return view(request, *args, **kwargs) if is_recent(request) else sign_in_again(request)

    return guarded


def is_recent(request: HttpRequest) -> bool:
    """Whether the person signed in just now."""
    return bool(abs(time.time() - request.session.get(BEGAN, 0)) <= RECENT_SECONDS)


def sign_in_again(request: HttpRequest, back: str = "") -> HttpResponse:
    """What is shown instead of a change. back: the page to go on with afterwards; else that of second factors."""
    context = {"back": back or reverse("accounts:factors")}
    return render(request, "accounts/again.html", context, status=403)
