"""The origin of the portal, such as https://portal.example, for links that leave it."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

from dpportal.accounts.addresses import comes_from_proxy

USUAL_PORTS = {"http": "80", "https": "443"}


def origin_of(request: HttpRequest) -> str:
    """The origin as the visitor sees it."""
    return request.build_absolute_uri("/").rstrip("/")


def settled_origin(request: HttpRequest) -> str:
    """The origin for a link that goes to somebody else than who asks.

    Django lets in every port of an allowed host, and whoever asks could name one of their own. So where origins are
    declared, it is one of them, of the visited host if there is one; else it has the port that this server listens to,
    or behind a proxy none.
    """
    visited = origin_of(request)
    declared = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if "*" not in origin]
    if visited in declared:
        return visited
    host, _port = split_domain_port(request.get_host())
    of_host = [origin for origin in declared if split_domain_port(urlsplit(origin).netloc)[0] == host]
    return next(iter([*of_host, *declared]), f"{request.scheme}://{host}{_own_port(request)}")


def _own_port(request: HttpRequest) -> str:
    """Empty, too, where the server listens to no port: at a socket of the file system Django says "None"."""
    port = request.META.get("SERVER_PORT", "")
    is_usual = port in ("0", USUAL_PORTS[request.scheme or "http"])
    return "" if comes_from_proxy(request) or is_usual or not port.isdecimal() else f":{port}"
