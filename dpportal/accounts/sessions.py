"""A session ends when nobody has worked in it for a while; its person can see and end it."""

from __future__ import annotations

import time

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.crypto import salted_hmac

from dpportal.accounts import audit, people
from dpportal.accounts.addresses import coarse_network
from dpportal.accounts.browsers import browser_family
from dpportal.accounts.models import PersonSession, User
from dpportal.accounts.session_store import BEGAN, BROWSER, HOW, NETWORK, SEEN, stored_key
from dpportal.accounts.sign_ins import how_of
from dpportal.platform.middleware import Middleware


def connect() -> None:
    """A session begins with somebody at work."""
    user_logged_in.connect(_begun, dispatch_uid="session begins")


def open_sessions(person: User) -> QuerySet[PersonSession]:
    """The person's sessions that have not ended, the last used first."""
    return person.sessions.filter(expire_date__gt=timezone.now()).order_by("-last_used_at")


def public_id(session: PersonSession) -> str:
    """Names a session on a page, by nothing that the database keeps."""
    return salted_hmac("public id of a session", session.session_key, algorithm="sha256").hexdigest()[:32]


def end(person: User, chosen: str) -> bool:
    """End the person's session with this public id. Returns whether there was one."""
    keys = [session.pk for session in open_sessions(person) if public_id(session) == chosen]
    return _end(person, person.sessions.filter(pk__in=keys))


def end_others(person: User, current: str | None) -> bool:
    """End all the person's sessions but the one with this key. Returns whether there were any."""
    return _end(person, _other_sessions(person, current))


@transaction.atomic
def end_all(person: User, by: User, current: str | None) -> bool:
    """End all the person's sessions but the one with this key, for an administrator. Returns whether there were any."""
    ended, _by_model = _other_sessions(person, current).delete()
    if ended:
        people.note(person, by, "ended all sessions", f"{ended}")
    return bool(ended)


def forget_others(person: User, current: str | None) -> None:
    """Delete sessions that a new password has ended, so that no list shows them."""
    _other_sessions(person, current).delete()


def longest_hours() -> int:
    """How long a session lasts at most."""
    return settings.SESSION_LONGEST // 3600


def _other_sessions(person: User, current: str | None) -> QuerySet[PersonSession]:
    return person.sessions.exclude(pk=stored_key(current))


def _end(person: User, sessions: QuerySet[PersonSession]) -> bool:
    ended, _by_model = sessions.delete()
    if ended:
        audit.record(person, "ended sessions", person, f"{ended}")
    return bool(ended)


def _begun(sender: object, request: HttpRequest, **_kwargs: object) -> None:
    request.session[BEGAN] = request.session[SEEN] = int(time.time())
    request.session[BROWSER] = browser_family(request)
    request.session[NETWORK] = coarse_network(request)
    request.session[HOW] = how_of(request).value


class IdleLimit(Middleware):
    """Prolongs the session of a person at work: a session's row lives SESSION_COOKIE_AGE from when it was last saved.

    It is saved at most twenty times in that while, and not for a page that asks by itself whether there is something
    new: a page left open is nobody at work.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and not _asks_by_itself(request):
            # Either way: clocks of several machines differ.
            since = abs(time.time() - request.session.get(SEEN, 0))
            if since * 20 >= settings.SESSION_COOKIE_AGE:
                request.session[SEEN] = int(time.time())
        return _as_full_page(request, self.get_response(request))


def _as_full_page(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The sign-in page is never put into a part of another: a page whose session ended is loaded again."""
    to_sign_in = response.status_code == 302 and response["Location"].startswith(
        resolve_url(settings.LOGIN_URL)
    )
    if to_sign_in and "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return response


def _asks_by_itself(request: HttpRequest) -> bool:
    return request.method == "GET" and "HX-Request" in request.headers
