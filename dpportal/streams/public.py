"""What everyone sees of a stream: its page, kept up to date, and its downloads."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from dpportal import storage
from dpportal.accounts.permissions import is_curator_of
from dpportal.charts.series import expectation_figure, expectation_periods, series_figure
from dpportal.charts.style import Figure
from dpportal.publishing.downloads import attachment, citation, withdrawn
from dpportal.publishing.statement import loss_text
from dpportal.streams import bundle
from dpportal.streams.access import visible_stream
from dpportal.streams.metadata import metadata
from dpportal.streams.models import Stream
from dpportal.streams.series import (
    Series,
    as_epsilon_delta,
    chosen_place,
    drawn,
    promise_of,
    published,
    unit_of,
)
from mechanisms import registry

MAX_ROWS = 200


@require_safe
def page(request: HttpRequest, stream_id: UUID) -> HttpResponse:
    """A published stream; its curator sees it before, too. A withdrawn one says so."""
    stream = visible_stream(request, stream_id)
    if stream is None:
        return _withdrawn(request, stream_id)
    plan, delta = stream.plan, stream.delta
    context = {
        "stream": stream,
        "plan": plan,
        "method_title": registry.stream(plan.mechanism).title,
        "statement": promise_of(stream),
        "loss": loss_text(plan.loss),
        "epsilon_delta": as_epsilon_delta(plan, delta),
        "is_curator": is_curator_of(request, stream.dataset.owner_id),
        "metadata": metadata(request, stream),
        "older": stream.supersedes,
        "newer": stream.successor,
        "files": bundle.names(stream),
        "nav_section": "streams",
        **shown(stream, request.GET.get("count", "")),
    }
    return render(request, "streams/public.html", context)


@require_safe
def download(request: HttpRequest, stream_id: UUID, name: str) -> HttpResponseBase:
    """One file of the bundle, or all in one zip, as of now."""
    stream = visible_stream(request, stream_id)
    if stream is None:
        return _withdrawn(request, stream_id)
    series = published(stream)
    if series is None or name not in bundle.names(stream):
        raise Http404
    with storage.scratch_folder() as folder:
        # An open file can be read to its end after its folder is gone.
        content = bundle.make(stream, series, name, folder).open("rb")
    return attachment(content, name, stream.name)


@require_safe
def cite(request: HttpRequest, stream_id: UUID, form: str) -> HttpResponse:
    """How a stream is cited, as BibTeX or RIS."""
    stream = visible_stream(request, stream_id)
    return _withdrawn(request, stream_id) if stream is None else citation(metadata(request, stream), form)


def shown(stream: Stream, chosen: str = "") -> dict[str, Any]:
    """The series as pages show it: chart, newest periods, expected error. chosen: which running count, from "0"."""
    series = drawn(stream)
    count = stream.periods.count()
    figures = {"expectation": expectation(stream, count)}
    place = chosen_place(stream, chosen)
    if series is not None:
        figures = {"series": published_figure(series, place, count), **figures}
    return {
        "figures": figures,
        "chosen": place,
        "counts": list(enumerate(stream.labels)) if len(stream.labels) > 1 else [],
        "newest": _newest(stream, place),
        "period_count": count,
        "unit": unit_of(stream),
    }


def published_figure(series: Series, place: int, periods: int, true: np.ndarray | None = None) -> Figure:
    """The chart of one running count; what never falls is drawn where the whole series is."""
    whole = len(series.labels) == periods
    return series_figure(
        series.labels,
        released=series.released[:, place],
        half_widths=series.half_widths,
        consistent=series.consistent[:, place] if whole else None,
        name=series.names[place],
        unit=series.unit,
        periods=periods,
    )


def expectation(stream: Stream, published_periods: int) -> Figure:
    """The plan's expected error over the whole stream, with a mark at the present."""
    plan = stream.plan
    horizon = plan.request.horizon or max(int(plan.details["periods_shown"]), published_periods)
    periods = expectation_periods(horizon)
    mechanism = registry.stream(plan.mechanism)
    errors = {mechanism.title: np.sqrt(mechanism.variances(plan, periods))}
    return expectation_figure(periods, errors, published=published_periods or None, unit=unit_of(stream))


def _newest(stream: Stream, place: int) -> list[dict[str, Any]]:
    """The newest periods first, as rows of a table."""
    rows = stream.periods.order_by("-index").values_list("index", "released", "half_width", "published_at")
    return [
        {
            "label": stream.calendar.label(index),
            "released": released[place],
            "half_width": half_width,
            "lower": released[place] - half_width,
            "upper": released[place] + half_width,
            "published_at": at,
        }
        for index, released, half_width, at in rows[:MAX_ROWS]
    ]


def _withdrawn(request: HttpRequest, stream_id: UUID) -> HttpResponse:
    """A page that was public says that it was withdrawn; of any other nobody learns that it exists."""
    stream = get_object_or_404(Stream, pk=stream_id, withdrawn_at__isnull=False)
    return withdrawn(request, "streams", stream)
