"""Whose stream is whose: a curator's own, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from dpportal.accounts.permissions import current_user, is_curator_of
from dpportal.streams.models import Stream


def own_stream(request: HttpRequest, stream_id: UUID) -> Stream:
    """The curator's own stream, or 404."""
    mine = Stream.objects.filter(dataset__owner=current_user(request))
    return get_object_or_404(mine.select_related("dataset", "charge__budget", "domain_version"), pk=stream_id)


def visible_stream(request: HttpRequest, stream_id: UUID) -> Stream | None:
    """A stream whose series this visitor may see: a published one, or the curator's own; else None."""
    stream = (
        Stream.objects.select_related("charge__budget", "dataset__owner", "domain_version", "supersedes")
        .filter(pk=stream_id)
        .first()
    )
    if stream is None or not stream.was_opened:
        return None
    is_own = is_curator_of(request, stream.dataset.owner_id)
    return stream if stream.is_public or is_own else None
