"""For search engines: the addresses of all that is public, and where that list lies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple
from uuid import UUID
from xml.sax.saxutils import escape

from django.conf import settings
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.timezone import localtime
from django.views.decorators.http import condition, require_safe

from dpportal.accounts.origins import origin_of
from dpportal.catalogue.entries import NEWEST_FIRST
from dpportal.platform.json_digest import json_digest
from dpportal.publications.draft import PUBLIC
from dpportal.releases.models import Release
from dpportal.streams.models import Stream

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
_BEGIN = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)
_END = "</urlset>\n"
_NOBODY = UUID(int=0)


class _Public(NamedTuple):
    """What is published, as the list has it. address: the path of its page."""

    address: str
    dataset: UUID
    at: datetime


def _version(request: HttpRequest) -> str:
    """Another one whenever a publication enters the list or leaves it."""
    changes: list[object] = [origin_of(request), settings.TIME_ZONE]
    for kind in (Release, Stream):
        public = kind._default_manager.filter(PUBLIC).aggregate(Count("pk"), Max("published_at"))
        withdrawn = kind._default_manager.aggregate(Max("withdrawn_at"))
        changes += map(str, (*public.values(), *withdrawn.values()))
    return f'"{json_digest(changes)}"'


@require_safe
@condition(etag_func=_version)
def sitemap(request: HttpRequest) -> HttpResponse:
    """Pages with the day of their last change, by the protocol of sitemaps.org."""
    site = escape(origin_of(request))
    public = _published()
    pages = chain(
        (f"<url><loc>{site}{reverse(name)}</loc></url>\n" for name in ALWAYS),
        (
            f"<url><loc>{site}{address}</loc><lastmod>{_day(at)}</lastmod></url>\n"
            for address, at in _pages(public)
        ),
    )
    return HttpResponse(f"{_BEGIN}{''.join(islice(pages, MOST))}{_END}", content_type="application/xml")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Where the sitemap lies; nothing is forbidden that is public."""
    address = request.build_absolute_uri(reverse("sitemap"))
    return HttpResponse(f"User-agent: *\nDisallow:\nSitemap: {address}\n", content_type="text/plain")


def _published() -> list[_Public]:
    """The newest first. Of thousands of rows nothing is read but what the list says."""
    pages = []
    for kind, name in ((Release, "releases:public"), (Stream, "streams:public")):
        begin, end = _around_id(name)
        rows = kind._default_manager.filter(PUBLIC).order_by(*NEWEST_FIRST)[:MOST]
        values = rows.values_list("pk", "dataset", "published_at")
        pages += [_Public(f"{begin}{pk}{end}", dataset, at) for pk, dataset, at in values if at]
    return sorted(pages, key=lambda publication: publication.at, reverse=True)


def _pages(public: list[_Public]) -> Iterator[tuple[str, datetime]]:
    """Datasets, each as old as its newest publication, then publications."""
    begin, end = _around_id("public_dataset")
    newest = {each.dataset: each.at for each in reversed(public)}
    yield from ((f"{begin}{pk}{end}", at) for pk, at in newest.items())
    yield from ((each.address, each.at) for each in public)


def _around_id(name: str) -> tuple[str, str]:
    """What stands before and after the id in such an address: it is made once, and not for each of thousands."""
    begin, _id, end = reverse(name, args=[_NOBODY]).partition(str(_NOBODY))
    return begin, end


def _day(at: datetime) -> str:
    return localtime(at).date().isoformat()
