"""Names in a request's query: one that nothing reads is a mistake, as in its body."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Schema

from dpportal.api.refused_forms import require_known


def known_names(act: Callable[..., object]) -> Callable[..., object]:
    """The act, which refuses a query that has other names than it takes."""

    @wraps(act)
    def answer(request: HttpRequest, **taken: Any) -> object:
        known = _known(request, taken)
        require_known(request.GET, known, _("The address asks for something that is not here."))
        return act(request, **taken)

    return answer


def _known(request: HttpRequest, taken: dict[str, Any]) -> set[str]:
    """The names that an act reads from the query.

    taken: all that it takes, by name; of GET a schema is of the query, of everything else it is the body.
    """
    known: set[str] = set()
    for name, value in taken.items():
        if isinstance(value, Schema):
            known |= set(type(value).model_fields) if request.method == "GET" else set()
        elif not isinstance(value, HttpResponse):
            known.add(name)
    return known - set(request.resolver_match.kwargs if request.resolver_match else ())
