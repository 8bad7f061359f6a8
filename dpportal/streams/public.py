"""What everyone sees of a stream: its page, kept up to date, and its downloads."""

from __future__ import annotations

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from dpportal.datasets.access import may_read
from dpportal.publications.downloads import file_response
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages
from dpportal.streams import downloads
from dpportal.streams.access import readable_streams
from dpportal.streams.models import Stream
from dpportal.streams.series import as_epsilon_delta, promise_of
from dpportal.streams.series_view import shown
from mechanisms import registry


def metadata(request: HttpRequest, stream: Stream) -> Metadata:
    """How a stream is cited."""
    columns = [stream.column] if stream.column else []
    what = _("Differentially private running count")
    return Metadata.of(request, stream, what, str(stream.plan.loss), columns)


pages = ReaderPages(space="streams", rows=readable_streams, may_read=may_read, metadata=metadata)


@pages.page
def page(request: HttpRequest, stream: Stream) -> HttpResponse:
    """A published stream; who may see its dataset sees it before, too."""
    plan, delta = stream.plan, stream.delta
    context = {
        **pages.context(request, stream),
        "stream": stream,
        "plan": plan,
        "method_title": registry.stream(plan.mechanism).title,
        "statement": promise_of(stream),
        "loss": str(plan.loss),
        "epsilon_delta": as_epsilon_delta(plan, delta),
        "offered": downloads.offered(stream),
        **shown(stream, request.GET),
    }
    return render(request, "streams/public.html", context)


@pages.page
def download(request: HttpRequest, stream: Stream, name: str) -> HttpResponseBase:
    """One file of the bundle, or all in one zip, as workers wrote it last."""
    if not stream.periods.exists():
        raise Http404
    offered = downloads.offered(stream)
    if not offered.files:
        return pages.being_written(request, stream)
    file = offered.named(name)
    if file is None:
        raise Http404
    try:
        return file_response(request, file, default_storage.open)
    except FileNotFoundError:
        downloads.forget_lost(stream)
        return pages.being_written(request, stream)
