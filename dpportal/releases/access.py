"""Whose release is whose: by the right to its dataset, or a published one; everything else is 404."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from dpportal.datasets.access import open_datasets, opening, own_publication
from dpportal.datasets.models import Dataset, Right
from dpportal.releases.models import Release


def release_for(request: HttpRequest, release_id: UUID) -> Release:
    """A release, or a draft, of a dataset that the visitor may release from; or 404."""
    rows = Release.objects.select_related("dataset", "job", "charge__budget", "domain_version")
    return own_publication(request, rows, release_id)


own_release = opening(release_for)


def tables_for(request: HttpRequest, release: Release) -> list[Dataset]:
    """Other datasets in which the visitor may release, and that declare all its columns: a later version, say."""
    others = open_datasets(request, Right.RELEASE).filter(state=Dataset.State.STORED)
    others = others.exclude(pk=release.dataset_id).prefetch_related("domain_versions__attributes")
    return [other for other in others if set(release.columns) <= _declared(other)]


def _declared(dataset: Dataset) -> set[str]:
    """The columns of the newest version, which comes first."""
    newest = next(iter(dataset.domain_versions.all()), None)
    return {a.column for a in newest.attributes.all()} if newest else set()
