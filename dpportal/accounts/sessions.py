"""A session ends when nobody has worked in it for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url

SEEN = "seen_at"


def connect() -> None:
    """A session begins with somebody at work."""
    user_logged_in.connect(_seen, dispatch_uid="session begins")


def _seen(sender: Any, request: HttpRequest, **_kwargs: Any) -> None:
    request.session[SEEN] = int(time.time())


class IdleLimit:
    """Prolongs the session of a person at work: a session's row lives SESSION_COOKIE_AGE from when it was last saved.

    It is saved at most twenty times in that while, and not for a page that asks by itself whether there is something
    new: a page left open is nobody at work.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and not _asks_by_itself(request):
            # Either way: clocks of several machines differ.
            since = abs(time.time() - request.session.get(SEEN, 0))
            if since * 20 >= settings.SESSION_COOKIE_AGE:
                _seen(self, request)
        return _whole_page(request, self.get_response(request))


def _whole_page(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The sign-in page is never put into a part of another: a page whose session ended is loaded again."""
    to_sign_in = response.status_code == 302 and response["Location"].startswith(
        resolve_url(settings.LOGIN_URL)
    )
    if to_sign_in and "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return response


def _asks_by_itself(request: HttpRequest) -> bool:
    return request.method == "GET" and "HX-Request" in request.headers
