"""Whose release is whose: a curator's own, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from dpportal.accounts.permissions import current_user
from dpportal.releases.models import Release


def own_release(request: HttpRequest, release_id: UUID) -> Release:
    """The curator's own release, or 404."""
    mine = Release.objects.filter(dataset__owner=current_user(request))
    return get_object_or_404(
        mine.select_related("dataset", "job", "charge__budget", "domain_version"), pk=release_id
    )
