"""The day on which the records of a dataset are deleted by themselves, and the warning before it."""

from __future__ import annotations

import datetime as dt
import logging

from django.db import transaction
from django.db.models import QuerySet
from django.utils import formats, timezone
from django.utils.translation import gettext as _

from dpportal.accounts import audit, mailing
from dpportal.accounts.models import AuditEntry, User
from dpportal.datasets import services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError

log = logging.getLogger(__name__)

WARNED_DAYS = 14
# States in which there are records or counts of people, and which nothing but a deletion ends.
ERASABLE = (Dataset.State.STORED, Dataset.State.COUNTED)
WARNED = "warned of the day of erasure"


@transaction.atomic
def choose_day(dataset: Dataset, day: dt.date | None, by: User) -> None:
    """Let the records be deleted on a day, or keep them. Raises DatasetError for a day that is not to come."""
    services.lock_dataset(dataset)
    if dataset.state not in ERASABLE:
        raise DatasetError(_("This dataset has no records that could be deleted."))
    if day is not None and day <= timezone.localdate():
        raise DatasetError(_("Choose a day to come. To delete the records now, use the button for that."))
    if day == dataset.erase_on:
        return
    Dataset.objects.filter(pk=dataset.pk).update(erase_on=day)
    before = f"before: {dataset.erase_on}" if dataset.erase_on else "before: none"
    audit.record(by, "chose the day of erasure", dataset, f"{day or 'none'}; {before}")


def days_left(dataset: Dataset) -> int | None:
    """Until the records are deleted; 0 on the day itself, None where no day was chosen or nothing is left to delete."""
    if dataset.erase_on is None or dataset.state not in ERASABLE:
        return None
    return max(0, (dataset.erase_on - timezone.localdate()).days)


def is_near(dataset: Dataset) -> bool:
    """Whether owners are warned by now."""
    left = days_left(dataset)
    return left is not None and left <= WARNED_DAYS


def sweep() -> None:
    """Delete the records whose day has come, and warn the owners of others; what cannot be done now waits an hour."""
    today = timezone.localdate()
    for dataset in _until(today):
        day = dataset.erase_on
        try:
            services.erase(dataset, dataset.owner, f"on the chosen day, {day}", erase_on=day)
        except (DatasetError, storage.StorageFault, MemoryFaultError) as reason:
            log.warning("dataset %s is not erased yet: %s", dataset.pk, reason)
    for dataset in _until(today + dt.timedelta(days=WARNED_DAYS)).filter(erase_on__gt=today):
        _warn(dataset)


def _until(day: dt.date) -> QuerySet[Dataset]:
    return Dataset.objects.filter(erase_on__lte=day, state__in=ERASABLE).select_related("owner")


@transaction.atomic
def _warn(dataset: Dataset) -> None:
    """Write to the owners once for each day that was chosen."""
    services.lock_dataset(dataset)
    subject, day = f"{dataset._meta.model_name} {dataset.pk}", str(dataset.erase_on)
    if AuditEntry.objects.filter(action=WARNED, subject=subject, detail=day).exists():
        return
    audit.record(dataset.owner, WARNED, dataset, day)
    co_owners = dataset.shares.filter(right=Right.OWN).values_list("person", flat=True)
    owners = User.objects.filter(pk__in=[dataset.owner_id, *co_owners], is_active=True)
    mailing.write([owner.email for owner in owners], *_letter(dataset))


def _letter(dataset: Dataset) -> tuple[str, str]:
    assert dataset.erase_on is not None
    values = {"name": dataset.name, "day": formats.date_format(dataset.erase_on)}
    return (
        _("The records of %(name)s are deleted on %(day)s") % values,
        _(
            "The records of the dataset %(name)s are deleted on %(day)s, as was chosen on its page. What was released, "
            "the downloads and the ledger stay. To keep the records longer, choose another day there before."
        )
        % values,
    )
