"""The page where everyone finds what is published."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dpportal.catalogue.forms import SearchForm
from dpportal.catalogue.publications import Wanted, loaded, published

PAGE_SIZE = 20


@require_GET
def catalogue(request: HttpRequest) -> HttpResponse:
    """What this portal is, a search, and what it found, newest first."""
    everything = published()
    form = SearchForm(request.GET, everything)
    wanted = form.wanted()
    page = Paginator(wanted.of(everything), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "facets": form.facets(),
        "page_obj": page,
        "entries": loaded(list(page)),
        "number": page.paginator.count,
        "is_search": wanted != Wanted(),
        "any": bool(everything),
        "nav_section": "catalogue",
    }
    return render(request, "catalogue/catalogue.html", context)
