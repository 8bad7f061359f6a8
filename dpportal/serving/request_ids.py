"""By which name the log knows a request: a declared proxy's own, or one of the portal; the answer has it, too."""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from dpportal.platform.middleware import Middleware

HEADER = "X-Request-ID"
# What a proxy may call it: nothing that could be taken for another field, or another line, of the log.
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


class RequestIds(Middleware):
    """Middleware, right after the one that drops what undeclared proxies say."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.META.get("HTTP_X_REQUEST_ID", "")
        name = sent if NAME.fullmatch(sent) else uuid4().hex
        # It stays until `forget`: what Django logs of an answer comes after all middleware.
        _current.set(name)
        response = self.get_response(request)
        response[HEADER] = name
        return response


def forget() -> None:
    """The request of this thread is answered."""
    _current.set("")


class WithRequestId(logging.Filter):
    """Puts the name of the request beside each line that is written while it is answered.

    Django's own lines, such as those of what somebody may not see, also get the number of who is signed in.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if name := _current.get():
            record.request_id = name
        of_request = f" request={name}" if name else ""
        # As far as it is known: a line of the log makes nobody look for a session.
        person = getattr(getattr(record, "request", None), "_cached_user", None)
        if person is not None and person.pk:
            record.person = person.pk
            of_request += f" person={person.pk}"
        record.of_request = of_request
        return True
