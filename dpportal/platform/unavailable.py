"""The answer while something that a request needs cannot be had: a page, and its reason for programs."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpResponse


class UnavailableResponse(HttpResponse):
    """A page that says why. reason: the same sentence, for those who read no page."""

    status_code = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, page: str, reason: str) -> None:
        super().__init__(page)
        self.reason = reason
