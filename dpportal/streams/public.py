"""What everyone sees of a stream: its page, kept up to date, and its downloads."""

from __future__ import annotations

from uuid import UUID

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from dpportal.publishing.downloads import being_written, citation, stored, withdrawn
from dpportal.streams import downloads
from dpportal.streams.access import visible_stream
from dpportal.streams.metadata import metadata
from dpportal.streams.models import Stream
from dpportal.streams.series import as_epsilon_delta, promise_of
from dpportal.streams.showing import shown
from mechanisms import registry


@require_safe
def page(request: HttpRequest, stream_id: UUID) -> HttpResponse:
    """A published stream; who may see its dataset sees it before, too. A withdrawn one says so."""
    stream = visible_stream(request, stream_id)
    if stream is None:
        return _withdrawn(request, stream_id)
    plan, delta = stream.plan, stream.delta
    context = {
        "stream": stream,
        "plan": plan,
        "method_title": registry.stream(plan.mechanism).title,
        "statement": promise_of(stream),
        "loss": str(plan.loss),
        "epsilon_delta": as_epsilon_delta(plan, delta),
        "metadata": metadata(request, stream),
        "older": stream.supersedes,
        "newer": stream.successor,
        "offered": downloads.offered(stream),
        "nav_section": "streams",
        **shown(stream, request.GET),
    }
    return render(request, "streams/public.html", context)


@require_safe
def download(request: HttpRequest, stream_id: UUID, name: str) -> HttpResponseBase:
    """One file of the bundle, or all in one zip, as workers wrote it last."""
    stream = visible_stream(request, stream_id)
    if stream is None:
        return _withdrawn(request, stream_id)
    if not stream.periods.exists():
        raise Http404
    offered = downloads.offered(stream)
    if not offered.files:
        return _being_written(request, stream)
    file = offered.named(name)
    if file is None:
        raise Http404
    try:
        return stored(request, file, stream.name, default_storage.open)
    except FileNotFoundError:
        downloads.forget_lost(stream)
        return _being_written(request, stream)


def _being_written(request: HttpRequest, stream: Stream) -> HttpResponse:
    """In place of a file that there is not yet, or that says something else than the page."""
    return being_written(request, "streams/being_written.html", {"stream": stream, "nav_section": "streams"})


@require_safe
def cite(request: HttpRequest, stream_id: UUID, form: str) -> HttpResponse:
    """How a stream is cited, as BibTeX or RIS."""
    stream = visible_stream(request, stream_id)
    return _withdrawn(request, stream_id) if stream is None else citation(metadata(request, stream), form)


def _withdrawn(request: HttpRequest, stream_id: UUID) -> HttpResponse:
    """A page that was public says that it was withdrawn; of any other nobody learns that it exists."""
    stream = get_object_or_404(Stream, pk=stream_id, withdrawn_at__isnull=False)
    return withdrawn(request, "streams", stream)
