"""The first version of the API: its description, its routers, and what the web server knows of their addresses."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import get_language, gettext, override
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from dpportal.api import (
    budgets,
    catalogue,
    columns,
    dataset_facts,
    datasets,
    declarations,
    description,
    period_files,
    planning,
    problems,
    publishing,
    reading,
    releases,
    streams,
    uploads,
    value_choices,
    webhooks,
)
from dpportal.api.authentication import person_of, sender_of
from dpportal.api.docs_page import DocsPage
from dpportal.api.json_bodies import JsonBodies
from dpportal.api.query_names import known_names
from dpportal.datasets.resumable_upload import MOST_PIECE_BYTES
from dpportal.serving.files import upload_limit

ABOUT = """What a browser can do, a program can do: upload and declare tables, see what each method would cost and how
wrong it would be, spend a budget, publish, and read what is published. Reading the catalogue needs no token; all else
needs one of yours, made on the page “Tokens” of your account.

A request that does something can have the header `Idempotency-Key`, a random UUID: sent again with the same key, it
does nothing twice. What goes wrong is told as RFC 9457 says."""


class PortalAPI(NinjaAPI):
    """The API, which describes itself in the reader's language, each time as it was once worked out."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._described: dict[tuple[str | None, str | None], OpenAPISchema] = {}

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """As the framework derives it, with headings, problem details and translations."""
        key = path_prefix, get_language()
        if key not in self._described:
            schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
            description.complete(schema)
            schema.update(description.reworded(schema, gettext))
            schema["info"]["title"] = self.title
            self._described[key] = schema
        return self._described[key]


def texts() -> list[str]:
    """All that the description says in English, for the catalogue of translations."""
    collected: dict[str, None] = {}
    with override("en"):
        description.reworded(api.get_openapi_schema(), lambda text: collected.setdefault(text) or text)
    return list(collected)


api = PortalAPI(
    title="DP Portal",
    version="1.0.0",
    description=ABOUT,
    urls_namespace="api",
    parser=JsonBodies(),
    docs=DocsPage(),
    docs_url="/docs",
)
problems.add_handlers(api)
api.add_decorator(known_names)
api.add_router("/catalogue", catalogue.router)
api.add_router("/products", planning.products_router)
api.add_router("/datasets", datasets.router)
api.add_router("/datasets", dataset_facts.router)
api.add_router("/datasets", reading.router)
api.add_router("/datasets", declarations.router)
api.add_router("/datasets", columns.router)
api.add_router("/datasets", budgets.router)
api.add_router("/datasets", planning.router)
api.add_router("/datasets", value_choices.router)
api.add_router("/releases", releases.router)
api.add_router("/streams", streams.router)
api.add_router("/streams", period_files.router)
api.add_router("/uploads", uploads.router)
api.add_router("/webhooks", webhooks.router)
api.add_router("", publishing.router)


# Addresses to which files are sent, by the name of an act there: how large one may be, in bytes.
TAKE_FILES: dict[str, Callable[[], int]] = {"upload": upload_limit, "append_piece": lambda: MOST_PIECE_BYTES}
# Acts that are HEAD by themselves: their address has no other answer to it.
ARE_HEAD = {"upload_offset"}


def _answering_head(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view, which answers HEAD as GET; the web server leaves the body out."""

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        method = request.method
        request.method = "GET" if method == "HEAD" else method
        try:
            return view(request, *args, **kwargs)
        finally:
            request.method = method

    return answer


def _known_to_the_door(patterns: list[URLPattern]) -> list[URLPattern]:
    """Have the web server know who sends a large body, by a token and not by a session; and where files come."""
    takes = {str(each.pattern): TAKE_FILES[each.name] for each in patterns if each.name in TAKE_FILES}
    say_head = {str(each.pattern) for each in patterns if each.name in ARE_HEAD}
    for pattern in patterns:  # all acts at an address, since the first of them is found
        route = str(pattern.pattern)
        if route not in say_head:
            pattern.callback = _answering_head(pattern.callback)
        pattern.callback.person_of = sender_of if route in takes else person_of  # type: ignore[attr-defined]
        if route in takes:
            pattern.callback.takes_files = takes[route]  # type: ignore[attr-defined]
    return patterns


_patterns, _app, _namespace = api.urls
urls = (_known_to_the_door(_patterns), _app, _namespace)  # type: ignore[arg-type]
