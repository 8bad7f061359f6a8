"""Answers that wait for something to happen, while no thread and no connection to the database waits with them.

A view that has nothing new to say marks its answer. The handler then lets go of the thread, and has the same request
answered again a little later, until there is something or the time is over.
"""

from __future__ import annotations

import time
from typing import TypeVar, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dpportal.serving.handler import AGAIN_IN, AsgiScope

PAUSE_SECONDS = 0.7
# Proxies give up after a minute or so.
MOST_SECONDS = 25.0
_UNTIL = "dpportal.waits_until"
R = TypeVar("R", bound=HttpResponseBase)


def wait(request: HttpRequest, response: R, seconds: float) -> R:
    """Have the request answered again soon, unless it has waited for so many seconds already."""
    if isinstance(request, ASGIRequest):
        scope = cast(AsgiScope, request.scope)
        until = scope.setdefault(_UNTIL, time.monotonic() + min(seconds, MOST_SECONDS))
        if time.monotonic() < until:
            setattr(response, AGAIN_IN, PAUSE_SECONDS)
    return response


def is_repeated(request: HttpRequest) -> bool:
    """Whether the handler has it answered again, and nobody sent it anew."""
    return isinstance(request, ASGIRequest) and _UNTIL in request.scope
