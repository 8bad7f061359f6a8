"""Doors by role. A page that is not yours does not exist: the answer is 404, never 403."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db import connection
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_noop

from dpportal.accounts.models import User

FORMER_OWNER = gettext_noop(
    "Whoever owns this is not a curator of this portal any more, so nothing is published for them. "
    "Ask an administrator."
)

# A page that can be asked for again after signing in.
SAFE = ("GET", "HEAD")

View = Callable[Concatenate[HttpRequest, ...], HttpResponseBase]


def curator_required(view: View) -> View:
    """Let signed-in curators in; send strangers to sign in; show everyone else 404."""
    return _guarded(view, lambda user: user.is_curator)


def administrator_required(view: View) -> View:
    """Let signed-in administrators in; send strangers to sign in; show everyone else 404."""
    return _guarded(view, lambda user: user.is_administrator)


def _guarded(view: View, may_enter: Callable[[User], bool]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        if not may_enter(current_user(request)):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """A stranger signs in first. What was sent is not sent again afterwards: the page with the form is shown."""
    if request.method in SAFE:
        return redirect_to_login(request.get_full_path())
    if "HX-Request" not in request.headers:
        text = gettext("Nothing was saved: your session had ended. Sign in and send it again.")
        messages.warning(request, text)
    return redirect_to_login(sent_from(request))


def sent_from(request: HttpRequest) -> str:
    """The page of this portal that a form stood on, or else the first page."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(page)
    address = parts.path + (f"?{parts.query}" if parts.query else "")
    # A path that begins like the name of a host would lead away.
    return address if url_has_allowed_host_and_scheme(address, None) else "/"


def current_user(request: HttpRequest) -> User:
    """The signed-in user, typed."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def require_publisher(user_id: int, refused: Callable[[str], Exception]) -> None:
    """Raise `refused` unless programs and jobs may publish for this person, asked in the transaction that does.

    Until it ends, nobody takes that right from them.
    """
    [person] = unchanging(User.objects.filter(pk=user_id))
    if not person.may_publish:
        raise refused(gettext(FORMER_OWNER))


def unchanging(people: QuerySet[User]) -> list[User]:
    """These people as they are now. Until this transaction ends nobody changes them, though others may ask the same.

    Jobs and confirmations of one person so never wait for each other here.
    """
    keys = sorted(people.values_list("pk", flat=True))
    if connection.vendor == "postgresql":  # SQLite has one lock for all
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM accounts_user WHERE id = ANY(%s) ORDER BY id FOR SHARE", [keys])
    return list(User.objects.filter(pk__in=keys).order_by("pk"))
