"""What a column can hold, taken from the data: not private, so only after its curator vouched that it is public."""

from __future__ import annotations

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.datasets import records, services
from dpportal.datasets.declaration_record import COLUMN
from dpportal.datasets.declared import titled_as_before
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset

NEEDS_CONFIRMATION = gettext_lazy(
    "Nothing was changed: confirm first that what is taken over is public knowledge."
)


def fill(dataset: Dataset, column: str, by: User) -> None:
    """Declare a column as its data have it; releases say so. Raises DatasetError, UploadFault and DomainError."""
    if not dataset.has_rows:
        raise DatasetError(_("The portal has no rows of this dataset, so nothing can be taken from them."))
    (suggested,) = titled_as_before(dataset, [records.suggested_attribute(dataset, column)])
    services.declare(dataset, column, suggested, filled=True, by=by)
    position = [each["name"] for each in dataset.columns].index(column)
    audit.record(by, "filled domain from data", dataset, clause(COLUMN, places=position + 1))
