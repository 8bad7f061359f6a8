"""Where a request comes from."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """The visitor's address: the connection's own, or behind the proxy the one that the proxy saw.

    A proxy appends to X-Forwarded-For, so only the last entry is its word; what stands before it a visitor can write.
    """
    told = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        told = request.headers.get("X-Forwarded-For", "").rpartition(",")[2] or told
    try:
        return str(ip_address(told.strip().partition("%")[0]))
    except ValueError:
        return None
