"""Doors by role. A page that is not yours does not exist: the answer is 404, never 403."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase

from dpportal.accounts.models import User

View = Callable[Concatenate[HttpRequest, ...], HttpResponseBase]


def curator_required(view: View) -> View:
    """Let signed-in curators in; send strangers to sign in; show everyone else 404."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not current_user(request).is_curator:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def current_user(request: HttpRequest) -> User:
    """The signed-in user, typed."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def is_curator_of(request: HttpRequest, owner_id: int) -> bool:
    """Whether the visitor owns it and still is a curator; a former one is a stranger."""
    user = request.user
    return isinstance(user, User) and user.is_curator and user.pk == owner_id
