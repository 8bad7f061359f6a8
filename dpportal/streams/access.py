"""Whose stream is whose: by the right to its dataset, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest

from dpportal.datasets.access import may_read, opening, own_publication
from dpportal.streams.models import Stream


def stream_for(request: HttpRequest, stream_id: UUID) -> Stream:
    """A stream, or a draft, of a dataset that the visitor may release from; or 404."""
    rows = Stream.objects.select_related("dataset", "charge__budget", "domain_version")
    return own_publication(request, rows, stream_id)


own_stream = opening(stream_for)


def readable_streams() -> QuerySet[Stream]:
    """All, with what is asked of one that is shown."""
    rows = Stream.objects.select_related("charge__budget", "dataset__owner", "domain_version", "supersedes")
    return rows.defer(*(f"supersedes__{name}" for name in Stream.UNLISTED))


def visible_stream(request: HttpRequest, stream_id: UUID) -> Stream | None:
    """A stream whose series this visitor may see: a published one, or one of a dataset open to them; else None."""
    stream = readable_streams().filter(pk=stream_id).first()
    return stream if stream is not None and may_read(request, stream) else None
