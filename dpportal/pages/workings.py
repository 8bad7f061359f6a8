"""How far workers are with what a plan waits for."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.running import workings

MOST_KEYS = 40


@curator_required
@require_GET
def awaited(request: HttpRequest) -> HttpResponse:
    """Asks for itself again while something is worked out; when one has ended, the page asks for its list anew.

    The keys are digests of public facts, so that anyone's may be asked for.
    """
    keys = request.GET.getlist("key")[:MOST_KEYS]
    left = workings.active(keys)
    shelf = workings.Shelf()
    shelf.awaited = left
    response = render(request, "_workings.html", {"workings": shelf})
    if len(left) < len(keys):
        response["HX-Trigger"] = "strategies:found"
    return response
