"""Public pages in fewer bytes for whoever is not signed in.

What is compressed shows its length. Whoever makes somebody's browser ask for pages with chosen words could find a
secret of the page by how well both fit together (BREACH). So no page of a session is compressed: a stranger's has no
secret but the token of its forms, which is masked anew each time. Django adds a random number of bytes besides.
"""

from __future__ import annotations

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

from dpportal.platform.middleware import Middleware

PAGES = ("text/html", "image/svg+xml")
# Pages that a few packets hold gain nothing.
LEAST_BYTES = 4_096
# Who accepts this only with a weight of 0 does not accept it (RFC 9110, 12.5.3).
REFUSED = re.compile(r"\bgzip\s*;\s*q=0(\.0*)?\s*(,|$)")


class CompressedPages(Middleware):
    """Compresses whole pages that are asked for without a session; never downloads, sent as they are signed."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES or request.method not in ("GET", "HEAD"):
            return response
        is_page = response.get("Content-Type", "").startswith(PAGES) and not response.streaming
        if not is_page or response.status_code != 200 or len(response.content) < LEAST_BYTES:
            return response
        if REFUSED.search(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            return response
        compressed = GZipMiddleware(self.get_response).process_response(request, response)
        assert isinstance(compressed, HttpResponse)
        return compressed
