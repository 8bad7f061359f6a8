"""The answer to a request while the database is locked or does not answer: try again in a moment."""

from __future__ import annotations

import logging
import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import defaults

from dpportal.jobs.lock_timeouts import is_unavailable
from dpportal.platform.middleware import Middleware
from dpportal.platform.unavailable import UnavailableResponse

UNAVAILABLE = 503
# A job that holds a row is through in less, or the database has ended it.
RETRY_AFTER_SECONDS = 10

log = logging.getLogger(__name__)


class DatabaseBusy(Middleware):
    """Answers with the page “try again in a moment” instead of the error page."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _answer_to(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler of uncaught errors, beside the middleware: other middleware reads the session, too."""
    return _answer_to(request, sys.exception()) or defaults.server_error(request)


def _answer_to(request: HttpRequest, exception: BaseException | None) -> HttpResponse | None:
    """The answer to an error of a busy database; None for any other error."""
    if exception is None or not is_unavailable(exception):
        return None
    # Quoted: a visitor writes the address, and a line end in it would begin another line.
    log.warning("%r: the database did not do it (%s)", request.path, type(exception.__cause__).__name__)
    connection.close_if_unusable_or_obsolete()
    response = _answer(request)
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _answer(request: HttpRequest) -> HttpResponse:
    """A page without database queries for people, JSON for programs."""
    reason = _(
        "The portal is busy with something that this needs, and gave up waiting. Look whether it was done before you "
        "try again in a few seconds, and tell an administrator if it lasts."
    )
    match = request.resolver_match
    if match is not None and hasattr(match.func, "known_sender"):
        return JsonResponse({"error": reason}, status=UNAVAILABLE)
    # Who is signed in, if that was looked up before.
    known = {"user": getattr(request, "_cached_user", None)}
    page = render_to_string("503.html", {"title": _("The portal is busy"), "reason": reason, **known})
    return UnavailableResponse(page, reason)
