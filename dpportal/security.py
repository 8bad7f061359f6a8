"""Response headers that keep every page to the portal's own scripts and styles, and out of caches."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# plotly.js sets inline styles on the figures it draws; nothing else needs them.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


class ContentSecurityPolicy:
    """Sends the policy with every response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class NoStore:
    """Has nothing of what a signed-in person sees kept on the way or in the browser: pages, previews, downloads."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.user.is_authenticated:
            response.headers["Cache-Control"] = "no-store, private"
        return response
