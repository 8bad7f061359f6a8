"""After some wrong passwords for a name from one address, that name waits there; an administrator can end the wait.

After many more from several addresses, or from one address for several names, the name waits everywhere, the address
for every name. A browser in which that person signed in before waits for its own wrong passwords alone.
"""

from __future__ import annotations

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_client_username, get_cool_off, get_failure_limit
from axes.models import AccessAttempt
from axes.utils import reset
from django.contrib.auth.signals import user_login_failed
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dpportal.accounts import people
from dpportal.accounts.known_browsers import known_as
from dpportal.accounts.models import User
from dpportal.platform.json_types import Json

# Tries of a name from all addresses together: a guesser with many is stopped, and needs ten to lock somebody out.
NAME_LIMIT = 50
# Tries from an address for all names together; more, since behind one address there may be a whole office.
ADDRESS_LIMIT = 100


class Attempt(HttpRequest):
    """A try to sign in, as django-axes marks it. known_browser: see `known_browsers`."""

    axes_ip_address: str
    axes_user_agent: str
    known_browser: str | None


class Handler(AxesDatabaseHandler):  # type: ignore[misc]
    """Counts wrong passwords as django-axes does for a name at an address, and besides for each of the two alone."""

    def is_allowed(self, request: Attempt, credentials: Json | None = None) -> bool:
        _mark(request, get_client_username(request, credentials))
        return bool(super().is_allowed(request, credentials))

    def user_logged_in(self, sender: object, request: Attempt, user: User, **kwargs: object) -> None:
        _mark(request, user.get_username())
        super().user_logged_in(sender, request, user, **kwargs)

    def get_failures(self, request: Attempt, credentials: Json | None = None) -> int:
        """The number that is compared with the limit of a name at an address, or in a known browser."""
        limit = get_failure_limit(request, credentials)
        name = get_client_username(request, credentials)
        if _is_known(request):
            return int(super().get_failures(request, credentials))
        everywhere = _wrong(request, username=name) >= NAME_LIMIT if name else False
        if everywhere or _wrong(request, ip_address=request.axes_ip_address) >= ADDRESS_LIMIT:
            return int(limit)
        return int(super().get_failures(request, credentials))


def counted_by(request: Attempt, _credentials: Json | None = None) -> list[list[str]]:
    """The facts by which tries are counted together: a name in a known browser, or else at an address."""
    return [["username", "user_agent"]] if _is_known(request) else [["username", "ip_address"]]


def _mark(request: Attempt, name: str | None) -> None:
    """A known browser is counted under its own identity, which no stranger knows."""
    request.known_browser = known_as(request, name)
    if request.known_browser:
        request.axes_user_agent = f"known browser {request.known_browser}"


def _is_known(request: Attempt) -> bool:
    return bool(getattr(request, "known_browser", None))


def _wrong(request: HttpRequest, **whose: str) -> int:
    recent = AccessAttempt.objects.filter(attempt_time__gte=get_cool_off_threshold(request), **whose)
    return recent.aggregate(wrong=Sum("failures_since_start"))["wrong"] or 0


def locked_page(request: HttpRequest, _refused: HttpResponse, _credentials: Json | None) -> HttpResponse:
    """The answer in place of the sign-in page; whether the name exists makes no difference to it."""
    wait = int(get_cool_off(request).total_seconds())
    response = render(request, "accounts/locked.html", {"minutes": -(-wait // 60)}, status=429)
    response["Retry-After"] = str(wait)
    return response


def turns_away(request: HttpRequest, person: User) -> bool:
    """Whether this name waits here, after too many tries. The answer is then the locked page, whatever a view gives."""
    is_allowed = AxesProxyHandler.is_allowed(request, {"username": person.get_username()})
    if not is_allowed:
        vars(request)["axes_locked_out"] = True
    return not is_allowed


def count_wrong_code(request: HttpRequest, person: User) -> bool:
    """Count a wrong code or key like a wrong password. Returns whether the name now waits here."""
    user_login_failed.send(__name__, credentials={"username": person.get_username()}, request=request)
    return bool(vars(request).get("axes_locked_out"))


def unlock(user: User, by: User) -> None:
    """Let an account try again from everywhere, at once."""
    reset(username=user.get_username())
    people.note(user, by, "unlocked signing in")
