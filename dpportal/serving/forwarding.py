"""What proxies say of a request is believed from declared ones alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dpportal.accounts.addresses import comes_from_proxy
from dpportal.platform.middleware import Middleware

# By which a proxy says who asks, how, for which host, and by which name its log knows the request.
FORWARDED = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
    "HTTP_X_REQUEST_ID",
)


class DeclaredProxies(Middleware):
    """Middleware, before all other: from anybody else these headers are as if they had not been sent."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not comes_from_proxy(request):
            for name in FORWARDED:
                request.META.pop(name, None)
        return self.get_response(request)
