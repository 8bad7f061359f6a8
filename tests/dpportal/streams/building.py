"""Streams to test with, of the small dataset."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.streams import downloads, drafts, job_execution, services
from dpportal.streams.downloads import Offered
from dpportal.streams.models import Period, Stream
from mechanisms.domain import Categorical
from mechanisms.noise import Noise, repeatable

DIGEST = bytes(range(32))
# Two streams that share the budget of ε = 1.
HALVES = (Decimal("0.5"), Decimal("0.5"))


def draft_stream(dataset: Dataset, **chosen: Any) -> Stream:
    """A draft with nothing left to choose: red rows, by number, 12 periods, ε = 0.5."""
    values: dict[str, Any] = {
        "name": "Red ones so far",
        "column": "colour",
        "cells": [0],
        "step": Stream.Step.NEXT,
        "horizon": 12,
        "mechanism": "fda",
        "amount": Decimal("0.5"),
    }
    return Stream.objects.create(dataset=dataset, created_by=dataset.owner, **{**values, **chosen})


def requested_stream(dataset: Dataset, **chosen: Any) -> Stream:
    """Confirmed as it is shown now; its job is queued."""
    stream = draft_stream(dataset, **chosen)
    assert confirm(stream)
    stream.refresh_from_db()
    return stream


def confirm(stream: Stream) -> bool:
    """Confirm what is shown now, as the review page's form does."""
    version, plan = drafts.plan_of(stream)
    shown = services.reviewed_as(stream, version, plan)
    return services.request_opening(stream, reviewed=shown, by=stream.created_by)


def open_stream(dataset: Dataset, **chosen: Any) -> Stream:
    stream = requested_stream(dataset, **chosen)
    job_execution.STREAM_JOBS.run(stream.jobs.get().pk)
    stream.refresh_from_db()
    return stream


def monthly_stream(dataset: Dataset, **chosen: Any) -> Stream:
    return open_stream(dataset, **{"step": Stream.Step.MONTH, "first_day": dt.date(2020, 3, 1), **chosen})


def daily_stream(dataset: Dataset, **chosen: Any) -> Stream:
    first = dt.date(2020, 1, 21)
    return open_stream(dataset, **{"step": Stream.Step.DAY, "first_day": first, "horizon": 600, **chosen})


def repeated_noise() -> Noise:
    """The same noise each time it is made."""
    return Noise(repeatable(DIGEST).bytes)


def long_stream(dataset: Dataset, periods: int, counts: int) -> Stream:
    """A published stream of so many running counts and periods, whose released numbers nobody measured.

    They grow by 3 a period; the rows are written straight away, since a test needs the pages of them alone.
    """
    values = tuple(f"kind {number}" for number in range(counts - 1))
    datasets.declare(dataset, "colour", Categorical("colour", values=values))
    stream = daily_stream(dataset, split=True, cells=[], horizon=periods)
    grown = [[3 * index + place for place in range(len(stream.labels))] for index in range(1, periods + 1)]
    rows = [
        Period(stream=stream, index=index, released=released, half_width=40, source=Period.Source.TYPED)
        for index, released in enumerate(grown, 1)
    ]
    Period.objects.bulk_create(rows, batch_size=1000)
    services.publish(stream, stream.created_by)
    stream.refresh_from_db()
    return stream


def with_files(stream: Stream) -> Offered:
    """What readers are offered once a worker has written the files of the newest period."""
    downloads.request(stream)
    downloads.DOWNLOADS.run(stream.pk)
    return downloads.offered(stream)
