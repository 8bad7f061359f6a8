"""The page where everyone finds what is published."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dpportal.catalogue import readers, snapshot
from dpportal.catalogue.entries import CatalogueEntry, Entry, SearchQuery, loaded
from dpportal.catalogue.forms import SearchForm

PAGE_SIZE = 20
# So many that were read most come first, where there are more than that in all.
MOST_READ = 3


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    """What this portal is, a search, and what it found, newest first."""
    current = snapshot.current()
    everything, form = current.entries, SearchForm(request.GET, current)
    query = form.query()
    page = Paginator(query.of(everything), PAGE_SIZE).get_page(request.GET.get("page"))
    entries = loaded(list(page))
    context = {
        "form": form,
        "facets": form.facets(),
        "page_obj": page,
        "entries": entries,
        "datasets": {entry.it.dataset.pk: entry.it.dataset.name for entry in entries},
        "most_read": [] if query != SearchQuery() or page.number > 1 else _most_read(everything),
        "number": page.paginator.count,
        "is_search": query != SearchQuery(),
        "any": bool(everything),
        "is_first_page": request.path == "/",
        "nav_section": "catalogue",
    }
    return render(request, "catalogue/catalogue.html", context)


def _most_read(everything: Sequence[CatalogueEntry]) -> list[Entry]:
    """What readers asked for most; nothing where the list beside it is as short."""
    if len(everything) <= MOST_READ:
        return []
    of_id = {publication.pk: publication for publication in everything}
    return loaded([of_id[pk] for pk in readers.most_read(of_id, MOST_READ)])
