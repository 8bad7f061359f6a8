"""What a published release says of itself to people who cite it and to programs that look for data."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from dpportal.publishing.metadata import Metadata, of_dataset
from dpportal.releases.models import Release
from dpportal.releases.products import ReleasePlan


def metadata(request: HttpRequest, release: Release, plan: ReleasePlan) -> Metadata:
    """Of a measured release; a preview has the date on which it was measured."""
    published = release.published_at or release.measured_at
    assert published is not None
    what = _("Differentially private release")
    return Metadata(
        title=release.title,
        kind=of_dataset(what, release.dataset.name, str(plan.loss)),
        author=release.created_by.public_name,
        published=published.date(),
        address=request.build_absolute_uri(release.get_absolute_url()),
        identifier=str(release.pk),
        doi=release.doi,
        columns=release.columns,
        about=release.dataset.told,
    )
