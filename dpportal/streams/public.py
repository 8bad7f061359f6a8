"""What everyone sees of a stream: its page, kept up to date, and its downloads."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from dpportal.budgets.dataset_costs import cost_context
from dpportal.datasets.access import may_read
from dpportal.platform.json_types import Json
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages, query_of
from dpportal.streams import downloads
from dpportal.streams.access import readable_streams
from dpportal.streams.bundle import SERIES
from dpportal.streams.models import SeriesFile, Stream
from dpportal.streams.series import kind_of, promise_of, whole_orders
from dpportal.streams.series_view import Chosen, figures, shown
from dpportal.streams.still_charts import as_json, still_charts
from dpportal.value_choices.disclosure import PublishedLoss
from mechanisms import registry


def metadata(request: HttpRequest, stream: Stream) -> Metadata:
    """How a stream is cited."""
    columns: dict[str, Json] = {name: {} for name in stream.counted_columns}
    return Metadata.of(request, stream, kind_of(), str(PublishedLoss.of(stream)), columns)


def files(stream: Stream) -> tuple[SeriesFile, ...]:
    """The files of its download, as workers wrote them last; before the first period, 404."""
    if not stream.periods.exists():
        raise Http404
    return downloads.offered(stream).files


def charts(request: HttpRequest, stream: Stream) -> dict[str, Json]:
    """The figures of the running counts that the address chooses, by the names that addresses have for them."""
    return as_json(figures(stream, Chosen.of(stream, request.GET), stream.periods.count()))


pages = ReaderPages(
    space="streams",
    rows=readable_streams,
    may_read=may_read,
    metadata=metadata,
    charts=charts,
    files=files,
    forget_lost=downloads.forget_lost,
    main_table=lambda _stream: SERIES,
    cost=lambda stream: str(PublishedLoss.of(stream)),
)


@pages.negotiated
def page(request: HttpRequest, stream: Stream) -> HttpResponse:
    """A published stream; who may see its dataset sees it before, too."""
    plan, loss = stream.plan, PublishedLoss.of(stream)
    numbers, offered = shown(stream, request.GET), downloads.offered(stream)
    context = {
        **pages.context(request, stream, offered.files),
        **cost_context(stream),
        "stream": stream,
        "plan": plan,
        "method_title": registry.stream(plan.mechanism).title,
        "statement": promise_of(stream, stream.other_promises),
        "loss": str(loss),
        "epsilon_delta": loss.pair(whole_orders=whole_orders(plan)),
        "offered": offered,
        "query": query_of(request),
        **numbers,
        "margins": numbers["period_count"] * len(stream.labels),
        "figures": still_charts(stream, numbers["chosen"], numbers["period_count"]),
    }
    return render(request, "streams/public.html", context)
