"""Pages that plan: what takes long they take from workers, and say how far these are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.jobs import search_cache
from mechanisms.deferred_search import taken_from

MOST_KEYS = 40
P = ParamSpec("P")
PublicationView = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def from_workers(view: PublicationView[P]) -> PublicationView[P]:
    """While the view runs, what a plan searches for long is taken from workers and never worked out.

    `request.searches` tells the template what is awaited.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        store = search_cache.SearchResults()
        request.searches = store  # type: ignore[attr-defined]
        with taken_from(store):
            return view(request, *args, **kwargs)

    return wrapped


def chosen_by_hand(posted: QueryDict) -> QueryDict:
    """What was posted, without the method that the page proposed: another cost may have another one."""
    if not is_method_as_proposed(posted):
        return posted
    changed = posted.copy()
    del changed["mechanism"]
    return changed


def is_method_as_proposed(posted: Mapping[str, Any]) -> bool:
    """Whether the method is still the one that the page proposed, which nobody picked."""
    return "use" not in posted and posted.get("proposed_method", "") == posted.get("mechanism")


@curator_required
@require_GET
def awaited(request: HttpRequest) -> HttpResponse:
    """Asks for itself again while something is worked out; when one has ended, the page asks for its list anew.

    The keys are digests of public facts, so that anyone's may be asked for.
    """
    keys = request.GET.getlist("key")[:MOST_KEYS]
    left = search_cache.active(keys)
    store = search_cache.SearchResults()
    store.awaited = left
    response = render(
        request, "_search_progress.html", {"searches": store, "is_ready": "ready" in request.GET}
    )
    if len(left) < len(keys):
        response["HX-Trigger"] = "strategies:found"
    return response
