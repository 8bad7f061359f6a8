"""Whose stream is whose: by the right to its dataset, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from dpportal.datasets.access import open_datasets, with_right
from dpportal.datasets.models import Right
from dpportal.streams.models import Stream


def stream_for(request: HttpRequest, stream_id: UUID) -> Stream:
    """A stream, or a draft, of a dataset that the visitor may release from; or 404."""
    found = Stream.objects.filter(dataset__in=open_datasets(request, Right.RELEASE))
    stream = get_object_or_404(
        found.select_related("dataset", "charge__budget", "domain_version"), pk=stream_id
    )
    with_right(request, stream.dataset)
    return stream


def visible_stream(request: HttpRequest, stream_id: UUID) -> Stream | None:
    """A stream whose series this visitor may see: a published one, or one of a dataset open to them; else None."""
    stream = (
        Stream.objects.select_related("charge__budget", "dataset__owner", "domain_version", "supersedes")
        .filter(pk=stream_id)
        .first()
    )
    if stream is None or not stream.was_opened:
        return None
    return stream if with_right(request, stream.dataset).right or stream.is_public else None
