"""Readers are told that a running count was closed: on its page, in its report, README and release.json."""

from __future__ import annotations

import json

from django.test import Client
from django.utils.dateformat import format as dated

from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.streams import downloads, execution, services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, SeriesBundle, Stream
from tests.dpportal.streams import building


def text_of(stream: Stream, name: str) -> str:
    [file] = [file for file in downloads.offered(stream).files if file.name == name]
    address = f"/streams/{stream.pk}/download/{file.name}"
    return b"".join(Client().get(address).streaming_content).decode()


def test_a_closed_running_count_says_so_to_readers(dataset: Dataset) -> None:
    """Its page went on saying “1 period published of 12”, as if more came."""
    stream = building.open_stream(dataset, horizon=12)
    execution.publish(stream.pk, [Update(1, (4,), Period.Source.TYPED)], noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    stream = Stream.objects.get(pk=stream.pk)
    building.with_files(stream)
    assert "losed" not in Client().get(stream.get_absolute_url()).text
    services.close(stream, stream.created_by)
    stream = Stream.objects.get(pk=stream.pk)
    sentence = f"Closed on {dated(stream.closed_at, 'j F Y')}: no further period comes."
    page = " ".join(Client().get(stream.get_absolute_url()).text.split())
    assert sentence in page and "of 12 · closed" in page
    # The files say it, too, and are written again for it.
    assert SeriesBundle.objects.get().state == JobState.QUEUED
    building.with_files(stream)
    for name in ("README.md", "report.html"):
        assert sentence in " ".join(text_of(stream, name).split()), name
    assert json.loads(text_of(stream, "release.json"))["closed_at"] == stream.closed_at.isoformat(
        timespec="seconds"
    )
