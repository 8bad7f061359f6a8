"""For search engines: the addresses of all that is public, and where that list lies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dpportal.catalogue.entries import CatalogueEntry, published

# The protocol's limit for one file; the newest come first.
MOST = 50_000
ALWAYS = (
    "catalogue",
    "guide",
    "guide_risk",
    "guide_choice",
    "guide_queries",
    "guide_microdata",
    "guide_streams",
    "guide_protection",
)


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Pages with the day of their last change, by the protocol of sitemaps.org."""
    entries = published()
    pages = [*((reverse(name), None) for name in ALWAYS), *_datasets(entries), *_publications(entries)]
    site = request.build_absolute_uri("/").rstrip("/")
    context = {"pages": [(f"{site}{address}", changed) for address, changed in pages[:MOST]]}
    return render(request, "catalogue/sitemap.xml", context, content_type="application/xml")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Where the sitemap lies; nothing is forbidden that is public."""
    address = request.build_absolute_uri(reverse("sitemap"))
    return HttpResponse(f"User-agent: *\nDisallow:\nSitemap: {address}\n", content_type="text/plain")


def _datasets(entries: list[CatalogueEntry]) -> Iterator[tuple[str, datetime]]:
    """Each with the day of its newest release."""
    newest = {entry.dataset: entry.published_at for entry in reversed(entries)}
    yield from ((reverse("public_dataset", args=[pk]), at) for pk, at in newest.items())


def _publications(entries: list[CatalogueEntry]) -> Iterator[tuple[str, datetime]]:
    yield from ((entry.address, entry.published_at) for entry in entries)
