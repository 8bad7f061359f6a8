"""Charts for pages of other sites: whoever pastes a published chart's address gets its frame, by oEmbed 1.0.

Source: https://oembed.com. Programs find this address in the head of every published page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dpportal.platform.json_types import Json
from dpportal.platform.problem_details import MEDIA_TYPE, problem_facts
from dpportal.publications.draft import PUBLIC
from dpportal.publications.frames import frame_height
from dpportal.publications.reader_pages import ReaderPages, query_of
from dpportal.releases import public as releases
from dpportal.releases.models import Release
from dpportal.streams import public as streams
from dpportal.streams.models import Stream

# Of a frame, in pixels of CSS, unless a site has room for less.
WIDTH = 800
CACHED_SECONDS = 24 * 3600
PAGES: Mapping[str, ReaderPages[Any]] = {"releases": releases.pages, "streams": streams.pages}


@require_safe
def oembed(request: HttpRequest) -> HttpResponse:
    """The frame of the chart at `url`: of a chart's own address, or of a page, whose first chart it is.

    404 for whatever is no published chart of this portal; 501 for another format than JSON; 400 without a `url`, or for
    a `maxwidth` or `maxheight` that is no number of pixels. Each says so in JSON.
    """
    if request.GET.get("format", "json") != "json":
        return _refused(501, _("This answers in JSON only."))
    address = request.GET.get("url", "")
    if not address:
        return _refused(400, _("Name the address of a published chart, or of its page, as “url”."))
    try:
        width = _room_for(request, "maxwidth", WIDTH)
        publication, frame, needed = _embedded(request, address, width)
        height = _room_for(request, "maxheight", needed)
    except ValueError:
        return _refused(400, _("Give “maxwidth” and “maxheight” as whole numbers of pixels from 1."))
    except Http404:
        return _refused(404, _("No chart is published at this address."))
    return JsonResponse(_rich(publication, request.build_absolute_uri(frame), width, height))


def _refused(status: int, detail: str) -> HttpResponse:
    return JsonResponse(problem_facts(status, detail), status=status, content_type=MEDIA_TYPE)


def _rich(publication: Release | Stream, address: str, width: int, height: int) -> Json:
    frame = format_html(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy"></iframe>',
        address,
        width,
        height,
        str(publication),
    )
    return {
        "version": "1.0",
        "type": "rich",
        "title": str(publication),
        "author_name": publication.created_by.public_name,
        "provider_name": _("DP Portal"),
        "provider_url": address.partition(publication.get_absolute_url())[0],
        "cache_age": CACHED_SECONDS,
        "width": width,
        "height": height,
        "html": frame,
    }


def _embedded(request: HttpRequest, address: str, width: int) -> tuple[Release | Stream, str, int]:
    """What is published at an address, its chart's frame, with what the address chooses, and how tall that is.

    The frame as a path, the height in pixels for a frame of a width. Raises Http404.
    """
    match, query = _resolved(address, request.get_host())
    pages = PAGES.get(match.namespace)
    if pages is None or match.url_name not in ("public", "embed"):
        raise Http404
    publication_id, *named = match.kwargs.values()
    publication: Any = pages.rows().filter(PUBLIC, pk=publication_id).first()
    if publication is None:
        raise Http404
    chosen = copy(request)
    chosen.GET = QueryDict(query)
    chart = named[0] if named else next(iter(pages.charts(chosen, publication)), "")
    figure, metadata = pages.figure(chosen, publication, chart), pages.metadata(chosen, publication)
    path = reverse(f"{match.namespace}:embed", args=[publication.pk, chart])
    return publication, f"{path}{query_of(chosen)}", frame_height(figure, metadata, width)


def _resolved(address: str, host: str) -> tuple[ResolverMatch, str]:
    """What an address of this portal names, and its query. Raises Http404 for those of others."""
    try:
        parts = urlsplit(address)
        if parts.netloc != host:
            raise Http404
        return resolve(parts.path), parts.query
    except (ValueError, Resolver404):
        raise Http404 from None


def _room_for(request: HttpRequest, name: str, usual: int) -> int:
    """What a site has room for, where that is less than usual. Raises ValueError for what is no number of pixels."""
    text = request.GET.get(name, "")
    if not text:
        return usual
    if not re.fullmatch("0*[1-9][0-9]*", text):
        raise ValueError(f"{name} must be a whole number from 1")
    # Of a number with more digits only these matter.
    return min(usual, int(text.lstrip("0")[:9]))
