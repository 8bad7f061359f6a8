"""In which language a page speaks: a person's own choice, else the browser's cookie or what it says it prefers."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from dpportal.accounts.models import User
from dpportal.accounts.permissions import sent_from
from dpportal.platform.middleware import Middleware

# What programs ask for is in English, whatever their browser or their person prefers: whole addresses, but for those at
# which people read of them, and views. What goes wrong is said in the language that a request names.
PROGRAMS = ("/api/", "/metrics", "/.well-known/")
READ_BY_PEOPLE = {"/api/v1/docs", "/api/v1/openapi.json"}
VIEWS_OF_PROGRAMS = {
    "dcat", "feed", "health", "oembed", "sitemap", "releases:cite", "releases:croissant", "streams:cite",
    "streams:croissant", "streams:periods",
}  # fmt: skip


class PersonLanguage(Middleware):
    """Speaks the language that the person chose; Django's own middleware has chosen one for whoever did not."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if language := _chosen_language(request):
            translation.activate(language)
            request.LANGUAGE_CODE = language
        response = self.get_response(request)
        # Nothing on the way may answer with another reader's language.
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response

    def process_view(self, request: HttpRequest, *_view: object) -> None:
        """Called by Django once it knows which view answers."""
        if request.resolver_match and request.resolver_match.view_name in VIEWS_OF_PROGRAMS:
            translation.activate(settings.LANGUAGE_CODE)


def named_language(request: HttpRequest) -> str:
    """The site's language that a request's header prefers; English where it names none of them."""
    for name, _weight in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        with suppress(LookupError):
            return translation.get_supported_language_variant(name)
    return settings.LANGUAGE_CODE


def _chosen_language(request: HttpRequest) -> str:
    if request.path.startswith(PROGRAMS) and request.path not in READ_BY_PEOPLE:
        return settings.LANGUAGE_CODE
    return request.user.language if isinstance(request.user, User) else ""


# A stranger has no session whose form could be forged, and a session's cookie does not come with another site's form.
@csrf_exempt
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Keep the chosen language, with the person or in a cookie, and go back to the page."""
    answer = HttpResponseRedirect(sent_from(request))
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return answer
    if isinstance(request.user, User):
        User.objects.filter(pk=request.user.pk).update(language=language)
    answer.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )
    return answer
