"""Whom to tell of a weakness of the portal, as RFC 9116 has it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

# The RFC wants a date, less than a year away, after which nobody should rely on what was read.
VALID = timedelta(days=180)


def security_txt(request: HttpRequest) -> HttpResponse:
    """The contact that the site names, if it names one."""
    contact = settings.SECURITY_CONTACT
    if not contact:
        raise Http404
    address = contact if ":" in contact else f"mailto:{contact}"
    until = (timezone.now() + VALID).strftime("%Y-%m-%dT00:00:00Z")
    return HttpResponse(
        f"Contact: {address}\nExpires: {until}\nPreferred-Languages: en\n",
        content_type="text/plain; charset=utf-8",
    )
