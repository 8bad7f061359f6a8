"""What a published running count says of itself to people who cite it and to programs that look for data."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from dpportal.publishing.metadata import Metadata, of_dataset
from dpportal.streams.models import Stream


def metadata(request: HttpRequest, stream: Stream) -> Metadata:
    """Of an opened stream; a preview has the date on which it was opened."""
    published = stream.published_at or stream.opened_at
    assert published is not None
    what = _("Differentially private running count")
    return Metadata(
        title=stream.name,
        kind=of_dataset(what, stream.dataset.name, str(stream.plan.loss)),
        author=stream.created_by.public_name,
        published=published.date(),
        address=request.build_absolute_uri(stream.get_absolute_url()),
        identifier=str(stream.pk),
        doi=stream.doi,
        columns=[stream.column] if stream.column else [],
        about=stream.dataset.told,
    )
