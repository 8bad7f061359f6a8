"""Identifiers in capitals, as spreadsheets and other systems write them, name what those in small letters do."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect

from dpportal.platform.middleware import Middleware
from dpportal.serving.programs import PROGRAMS

_UUID = re.compile(r"(?<=/)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?=/|$)", re.IGNORECASE)


def with_small_ids(path: str) -> str:
    """A path as the portal writes it."""
    return _UUID.sub(lambda match: match[0].lower(), path)


class SmallIds(Middleware):
    """Leads readers to the one address of a page; programs, of which many follow nowhere, are answered at once."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        requested, path = request.path_info, with_small_ids(request.path_info)
        if path == requested:
            return self.get_response(request)
        if request.method in ("GET", "HEAD") and not path.startswith(PROGRAMS):
            return HttpResponsePermanentRedirect(with_small_ids(request.path) + _query(request))
        request.path_info, request.path = path, with_small_ids(request.path)
        return self.get_response(request)


def _query(request: HttpRequest) -> str:
    sent = request.META.get("QUERY_STRING", "")
    return f"?{sent}" if sent else ""
