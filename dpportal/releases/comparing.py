"""Released beside true counts, for those who may see them; each look is on record."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.datasets import records
from dpportal.datasets.access import why_true_counts_hidden
from dpportal.platform.json_types import Json
from dpportal.platform.language_layers import in_reader_language
from dpportal.publications.publishing import record_comparison
from dpportal.releases.models import Release


class NotComparedError(Exception):
    """There is nothing to compare, or this person may not see it; the message says which."""


def comparison_for(release: Release, person: User) -> Json:
    """The stored comparison, its look recorded. Raises NotComparedError."""
    if reason := why_true_counts_hidden(release.dataset, person):
        raise NotComparedError(reason)
    comparison = records.comparison(release.dataset_id, release.pk) if release.is_ready else None
    if comparison is None:
        raise NotComparedError(
            _(
                "There is nothing to compare: the job is not finished, the records were deleted, or the comparison "
                "could not be made, which the log says."
            )
        )
    record_comparison(release, person)
    return in_reader_language(comparison)
