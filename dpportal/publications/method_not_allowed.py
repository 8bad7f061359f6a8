"""The page of an address that only takes what a form sends, for whoever opens it as a page."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

NOT_ALLOWED = 405


class OnlySent:
    """Says so where Django's answer is empty, which browsers show as a fault of their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if answer.status_code != NOT_ALLOWED or request.method != "GET" or answer.content:
            return answer
        page = render(request, "405.html", status=NOT_ALLOWED)
        page.headers["Allow"] = answer.headers["Allow"]
        return page
