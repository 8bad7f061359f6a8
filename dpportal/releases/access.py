"""Whose release is whose: a curator's own, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from dpportal.accounts.permissions import current_user
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release


def own_release(request: HttpRequest, release_id: UUID) -> Release:
    """The curator's own release, or 404."""
    mine = Release.objects.filter(dataset__owner=current_user(request))
    return get_object_or_404(
        mine.select_related("dataset", "job", "charge__budget", "domain_version"), pk=release_id
    )


def tables_for(release: Release) -> list[Dataset]:
    """The owner's other datasets in which all columns of a release are declared: a later version of its table, say."""
    others = Dataset.objects.filter(owner=release.dataset.owner_id, state=Dataset.State.STORED)
    others = others.exclude(pk=release.dataset_id).prefetch_related("domain_versions__attributes")
    return [other for other in others if set(release.columns) <= _declared(other)]


def _declared(dataset: Dataset) -> set[str]:
    """The columns of the newest version, which comes first."""
    newest = next(iter(dataset.domain_versions.all()), None)
    return {a.column for a in newest.attributes.all()} if newest else set()
