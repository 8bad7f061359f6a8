"""The page on which the API is tried: Swagger UI, from the portal's own static files, within its own policy."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_noop as _
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

# What Swagger UI writes, which has no other language.
LABELS = (
    _("Authorize"), _("Authorized"), _("Available authorizations"), _("Cancel"), _("Clear"), _("Close"), _("Code"),
    _("Controls"), _("Description"), _("Details"), _("Download"), _("Example Value"), _("Execute"), _("Links"),
    _("Logout"), _("Media type"), _("Name"), _("No links"), _("No parameters"), _("Parameters"),
    _("Request body"), _("Request duration"), _("Request URL"), _("Response body"), _("Response headers"),
    _("Responses"), _("Schema"), _("Send empty value"), _("Server response"), _("Try it out"), _("Undocumented"),
    _("Value:"), _("header."), _("required"),
    _("Collapse operation"), _("Expand operation"), _("Copy to clipboard"), _("Media Type"), _("Request content type"),
    _("authorization button locked"), _("authorization button unlocked"),
)  # fmt: skip


class DocsPage(DocsBase):
    """A page of the portal around Swagger UI."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page, which reads the description from its address."""
        labels = {label: gettext(label) for label in LABELS}
        context = {
            "description": self.get_openapi_url(api, kwargs),
            "labels": labels,
            "nav_section": "guide",
        }
        return render(request, "api/docs.html", context)
