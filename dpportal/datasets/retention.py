"""The day on which the records of a dataset are deleted by themselves, and the warning before it."""

from __future__ import annotations

import datetime as dt
import logging

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit, mailing
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import AuditEntry, User
from dpportal.datasets import services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.stored_texts import in_site_language

log = logging.getLogger(__name__)

WARNED_DAYS = 14
# So many days lie between the warning and the deletion at least, where the portal was down when the warning was due.
NOTICE_DAYS = 3
# States in which nothing is deleted: it is deleted already, or being read. In every other one there may be files with
# records, of a reading that was refused or cancelled, too.
SPARED = (Dataset.State.ERASED, Dataset.State.CONVERTING)
WARNED, CHOSEN = gettext_noop("warned of the day of erasure"), gettext_noop("chose the day of erasure")
NO_DAY = gettext_noop("none")


@transaction.atomic
def choose_day(dataset: Dataset, day: dt.date | None, by: User) -> None:
    """Let the records be deleted on a day, or keep them. Raises DatasetError for a day that is not to come."""
    services.lock_dataset(dataset)
    if dataset.state == Dataset.State.CONVERTING:
        raise DatasetError(_("The file is being read now. Choose the day when that has ended."))
    if dataset.state == Dataset.State.ERASED:
        raise DatasetError(_("This dataset has no records that could be deleted."))
    if day is not None and day <= timezone.localdate():
        raise DatasetError(_("Choose a day to come. To delete the records now, use the button for that."))
    if day == dataset.erase_on:
        return
    Dataset.objects.filter(pk=dataset.pk).update(erase_on=day)
    before = clause(gettext_noop("before: %(day)s"), day=dataset.erase_on or NO_DAY)
    audit.record(by, CHOSEN, dataset, clauses(str(day or NO_DAY), before))
    dataset.erase_on = day
    if is_near(dataset):
        _warn(dataset)


def last_day(dataset: Dataset) -> dt.date | None:
    """The day on which the records are deleted; None where none was chosen or nothing is left to delete.

    The chosen one, or a later one where its owners were warned late.
    """
    day = dataset.erase_on
    if day is None or dataset.state in SPARED:
        return None
    warned = _warned_on(dataset) or max(timezone.localdate(), _warned_from(day))
    return max(day, warned + dt.timedelta(days=_notice(dataset, day)))


def days_left(dataset: Dataset) -> int | None:
    """Until the records are deleted; 0 on the day itself, None where there is no such day."""
    day = last_day(dataset)
    return None if day is None else max(0, (day - timezone.localdate()).days)


def is_near(dataset: Dataset) -> bool:
    """Whether owners are warned by now."""
    left = days_left(dataset)
    return left is not None and left <= WARNED_DAYS


def sweep() -> None:
    """Warn the owners of records whose day is near, and delete those whose day has come.

    What cannot be done now waits an hour, and keeps no other dataset waiting.
    """
    today = timezone.localdate()
    due = Dataset.objects.filter(erase_on__lte=today + dt.timedelta(days=WARNED_DAYS))
    for dataset in due.exclude(state__in=SPARED).select_related("owner"):
        try:
            _warn(dataset)
            day, chosen = last_day(dataset), dataset.erase_on
            if day is not None and day <= today:
                services.erase(dataset, dataset.owner, f"on the chosen day, {chosen}", erase_on=chosen)
        except (DatasetError, storage.StorageFault, MemoryFaultError) as reason:
            log.warning("dataset %s is not erased yet: %s", dataset.pk, reason)
        except OperationalError as fault:  # such as a row that somebody holds for long
            log.warning("dataset %s is not erased yet: %s", dataset.pk, type(fault).__name__)
            connection.close_if_unusable_or_obsolete()


def _warned_from(day: dt.date) -> dt.date:
    """When owners are to hear of a day."""
    return day - dt.timedelta(days=WARNED_DAYS)


def _notice(dataset: Dataset, day: dt.date) -> int:
    """The days that lie between the warning and the deletion at least; fewer where the day was chosen so near."""
    chosen = _last(dataset, CHOSEN, f"{day}; ")
    return NOTICE_DAYS if chosen is None else min(NOTICE_DAYS, (day - timezone.localdate(chosen.at)).days)


def _warned_on(dataset: Dataset) -> dt.date | None:
    """When the owners were told of the chosen day; None if not since it was chosen, of which they were told before."""
    day = str(dataset.erase_on)
    chosen, warned = _last(dataset, CHOSEN, f"{day}; "), _last(dataset, WARNED, day)
    if warned is None or (chosen is not None and (warned.at, warned.pk) < (chosen.at, chosen.pk)):
        return None
    return timezone.localdate(warned.at)


def _last(dataset: Dataset, action: str, detail: str) -> AuditEntry | None:
    """The last line of the audit record that has this act on a dataset, and whose details begin so."""
    subject = f"{dataset._meta.model_name} {dataset.pk}"
    acts = AuditEntry.objects.filter(action=action, subject=subject, detail__startswith=detail)
    return acts.order_by("-at", "-pk").first()


@transaction.atomic
def _warn(dataset: Dataset) -> None:
    """Write to the owners once for each day that was chosen."""
    services.lock_dataset(dataset)
    day = last_day(dataset)
    if day is None or _warned_on(dataset):
        return
    audit.record(dataset.owner, WARNED, dataset, str(dataset.erase_on))
    co_owners = dataset.shares.filter(right=Right.OWN).values_list("person", flat=True)
    owners = User.objects.filter(pk__in=[dataset.owner_id, *co_owners], is_active=True)
    mailing.write([owner.email for owner in owners], *_letter(dataset, day))


@in_site_language
def _letter(dataset: Dataset, day: dt.date) -> tuple[str, str]:
    values = {"name": dataset.name, "day": day.isoformat()}
    return (
        _("The records of %(name)s are deleted on %(day)s") % values,
        _(
            "The records of the dataset %(name)s are deleted on %(day)s, as was chosen on its page. What was released, "
            "the downloads and the ledger stay. To keep the records longer, choose another day there before."
        )
        % values,
    )
