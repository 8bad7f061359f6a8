"""The first rows of a table, for its owners; each look is on record."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets import records
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset

MOST_ROWS = 20


def first_rows(dataset: Dataset, count: int, by: User) -> list[list[str | None]]:
    """So many rows at most, as texts. Raises DatasetError where there are none."""
    if not dataset.has_rows:
        raise DatasetError(_("This dataset has no records to show."))
    audit.record(by, "viewed first rows", dataset)
    return records.first_rows(dataset, count)
