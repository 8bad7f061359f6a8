"""A session ends when nobody has worked in it for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

SEEN = "seen_at"


class IdleLimit:
    """Prolongs the session of a person at work: a session's row lives SESSION_COOKIE_AGE from when it was last saved.

    It is saved at most twenty times in that while, and not for a page that asks by itself whether there is something
    new: a page left open is nobody at work.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and not _asks_by_itself(request):
            now = int(time.time())
            # Either way: clocks of several machines differ.
            if abs(now - request.session.get(SEEN, 0)) * 20 >= settings.SESSION_COOKIE_AGE:
                request.session[SEEN] = now
        return self.get_response(request)


def _asks_by_itself(request: HttpRequest) -> bool:
    return request.method == "GET" and "HX-Request" in request.headers
