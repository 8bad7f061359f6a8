"""Headers and statuses of answers: pages keep to the portal's own scripts and styles, and out of caches."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dpportal.platform.middleware import Middleware

# The one style sheet that plotly.js writes into a page, of its maps, which the portal does not draw.
PLOTLY_MAPS = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
# Style attributes are refused but for those that plotly.js writes as such: an empty one, how a heat map's pixels are
# shown, and bold text. What scripts set on an element property by property is no attribute.
PLOTLY_ATTRIBUTES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-AR/cKIZjWPcPmBUPDA6oti9XBiTbJvz0Cro2J1VzzS8='",
    "'sha256-wkY2X5hecQzbhnFCqvTpwrUJ1f4X8LH5WFjYUzv1wmU='",
)
NOT_THERE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
NO_FRAME = "frame-ancestors 'none'"
POLICY = "; ".join(
    (
        "default-src 'self'",
        f"style-src 'self' {PLOTLY_MAPS}",
        f"style-src-attr 'unsafe-hashes' {' '.join(PLOTLY_ATTRIBUTES)}",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        NO_FRAME,
    )
)
# The portal's pages use none of a browser's devices and services, nor may a page that they would frame.
UNUSED = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "display-capture",
    "encrypted-media",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)
PERMISSIONS = ", ".join(f"{name}=()" for name in UNUSED)


def policy(*, is_framed: bool = False) -> str:
    """The policy; scripts may send to the storage, too, where the site says so. is_framed: by pages of any site."""
    own = POLICY.replace(NO_FRAME, "frame-ancestors *") if is_framed else POLICY
    return f"{own}; connect-src 'self' {settings.DIRECT_UPLOADS}" if settings.DIRECT_UPLOADS else own


class ContentSecurityPolicy(Middleware):
    """Sends the policy with every response, and what of the browser no page may use."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_framed = getattr(response, "xframe_options_exempt", False)
        response.headers.setdefault("Content-Security-Policy", policy(is_framed=is_framed))
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


class NoStore(Middleware):
    """Has nothing of what a signed-in person sees kept on the way or in the browser: pages, previews, downloads.

    Of what everyone sees, nothing keeps that it is not there: browsers take that for final unless they are told
    otherwise, and what was withdrawn may be published again.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.user.is_authenticated:
            response.headers["Cache-Control"] = "no-store, private"
        elif response.status_code in NOT_THERE:
            response.headers["Cache-Control"] = "no-store"
        return response


class FormToCorrect(Middleware):
    """Gives browsers a form in which something has to be corrected as any page: with 200.

    They note other statuses as faults in their console, and it is none that a person mistyped. Programs get 422.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        is_sent_by_browser = request.headers.get("Sec-Fetch-Mode") == "navigate"
        if is_page and is_sent_by_browser and response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            response.status_code = HTTPStatus.OK
        return response
