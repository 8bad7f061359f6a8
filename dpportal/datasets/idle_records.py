"""Whether any job is at a dataset's records, so that they cannot be deleted now."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import ACTIVE


def require_idle(dataset: Dataset) -> None:
    """Raises DatasetError while a job is at the records. The dataset is locked, so that none begins meanwhile."""
    require_unread(dataset)
    if dataset.value_choices.filter(state__in=ACTIVE).exists():
        text = _(
            "The values of a column are being chosen from these records. Wait until that has ended, then delete "
            "them."
        )
        raise DatasetError(text)


def require_unread(dataset: Dataset) -> None:
    """Raises DatasetError while an upload or a release reads the records, which erasing does not end."""
    if not dataset.is_tableless and dataset.conversion.active:
        text = _("The file is still being read. Wait until that has ended, then delete the records.")
        raise DatasetError(text)
    if dataset.releases.filter(job__state__in=ACTIVE).exists():
        text = _(
            "A release of this dataset is in work. Wait until it has ended, or cancel it, "
            "then delete the records."
        )
        raise DatasetError(text)
