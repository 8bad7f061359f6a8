"""Doors by role. A page that is not yours does not exist: the answer is 404, never 403."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext, gettext_noop

from dpportal.accounts.models import User

FORMER_OWNER = gettext_noop(
    "Whoever owns this is not a curator of this portal any more, so nothing is published for them. "
    "Ask an administrator."
)

View = Callable[Concatenate[HttpRequest, ...], HttpResponseBase]


def curator_required(view: View) -> View:
    """Let signed-in curators in; send strangers to sign in; show everyone else 404."""
    return _guarded(view, lambda user: user.is_curator)


def administrator_required(view: View) -> View:
    """Let signed-in administrators in; send strangers to sign in; show everyone else 404."""
    return _guarded(view, lambda user: user.is_administrator)


def _guarded(view: View, may_enter: Callable[[User], bool]) -> View:
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not may_enter(current_user(request)):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def current_user(request: HttpRequest) -> User:
    """The signed-in user, typed."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def require_publisher(user_id: int, refused: Callable[[str], Exception]) -> None:
    """Raise `refused` unless programs and jobs may publish for this person, asked in the transaction that does.

    Until it ends, nobody takes that right from them.
    """
    if not User.objects.select_for_update(no_key=True).get(pk=user_id).may_publish:
        raise refused(gettext(FORMER_OWNER))
