"""Erases again the records that were erased since the copy that the database was put back from.

`datasets.erasure_journal` remembers it outside the database. Where that is lost, or another portal's, nothing is
claimed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.datasets import erasure_journal, receipts, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.datasets.receipts import ErasureReceipt
from dpportal.operations.withdrawn_again import remembered
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.storage import StorageFault

log = logging.getLogger(__name__)
ERASED = Dataset.State.ERASED


def sweep() -> None:
    """Erase again what the memory has as erased, as soon as no job is at the records; remember what it lacks."""
    known = remembered(erasure_journal.known_ids)
    if known is None:
        return
    for dataset in _with_records():
        try:
            services.erase_again(dataset, erasure_journal.receipt_of(dataset.pk))
        except (DatasetError, MemoryFaultError, StorageFault) as reason:
            log.warning("dataset %s is not erased again yet: %s", dataset.pk, reason)
    for dataset_id in ErasureReceipt.objects.exclude(pk__in=known).values_list("pk", flat=True):
        receipts.remember(dataset_id)


def remember_all() -> None:
    """Remember each erasure that the database has, also where the memory has a folder for it and no file yet."""
    if remembered(erasure_journal.known_ids) is not None:
        for dataset_id in ErasureReceipt.objects.values_list("pk", flat=True):
            receipts.remember(dataset_id)


def check() -> list[Dataset]:
    """Both. Returns what was erased again."""
    before = set(findings())
    sweep()
    remember_all()
    return [dataset for dataset in findings() if dataset not in before]


def findings() -> list[Dataset]:
    """The datasets that were erased again after a restore, the newest first."""
    again = audit.newest(receipts.ERASED_AGAIN, Dataset.objects.filter(state=ERASED).only("name"))
    ordered = sorted(again.items(), key=lambda pair: pair[1], reverse=True)
    return [dataset for dataset, _at in ordered if isinstance(dataset, Dataset)]


def contradictions() -> Iterator[str]:
    """Which datasets have records that were erased, in sentences."""
    for dataset in _with_records():
        text = _("%(name)s has its records, and the portal's memory has that they were erased.")
        yield text % {"name": dataset.name}


def _with_records() -> QuerySet[Dataset]:
    """The datasets that the memory has as erased, and the database has not."""
    known = remembered(erasure_journal.known_ids) or ()
    return Dataset.objects.filter(pk__in=known).exclude(state=ERASED)
