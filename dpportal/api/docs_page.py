"""The page on which the API is tried: Swagger UI, from the portal's own static files, within its own policy."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class DocsPage(DocsBase):
    """A page of the portal around Swagger UI."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page, which reads the description from its address."""
        context = {"description": self.get_openapi_url(api, kwargs), "nav_section": "guide"}
        return render(request, "api/docs.html", context)
