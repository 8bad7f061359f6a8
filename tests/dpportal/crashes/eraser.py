"""Erases a dataset's records, and kills itself on the way; what is there before and after, as the clerk sees it.

Started as `python -m tests.dpportal.crashes.eraser DATASET POINT`; without a point it erases to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

if __name__ == "__main__":
    django.setup()

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry, User
from dpportal.budgets.models import Budget
from dpportal.datasets import derived, erasure_journal, keys, receipts, records, services as datasets
from dpportal.datasets.models import Dataset
from dpportal.operations import erased_again
from dpportal.platform import durable_files, journal
from dpportal.releases import execution
from dpportal.releases.models import Release
from dpportal.streams import job_execution, period_journal, services as streams
from dpportal.streams.models import Stream
from dpportal.streams.vault import true_counts
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream

Call = Callable[..., Any]


def prepare() -> str:
    """A dataset of its own with a published release and a running count that has two periods, one from records."""
    curator = User.objects.get(username="curator")
    stored = building.stored_dataset(curator, f"To erase {Dataset.objects.count()}")
    dataset = building.granted(stored, User.objects.get(username="administrator"), "5")
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    stream = open_stream(dataset)
    counts = ContentFile(b"period,count\n1,5\n", "counts.csv")
    rows = ContentFile(b"colour,age\nred,1\nred,2\nblue,3\n", "rows.csv")
    job_execution.STREAM_JOBS.run(streams.queue_counts(stream, counts, {}, curator, confirmed=True).pk)
    job_execution.STREAM_JOBS.run(streams.queue_records(stream, 2, rows, curator).pk)
    return str(dataset.pk)


def facts(dataset_id: str) -> dict[str, Any]:
    """What is there of a dataset's records: in the database, in the storage and in the memory."""
    dataset = Dataset.objects.get(pk=dataset_id)
    [stream], [release] = Stream.objects.filter(dataset=dataset), Release.objects.filter(dataset=dataset)
    receipt, budget = receipts.of(dataset.pk), Budget.objects.get(dataset=dataset)
    remembered = journal.holds(f"{erasure_journal.FOLDER}/{dataset.pk}/{erasure_journal.RECEIPT}")
    decided = settings.MEMORY_DIR / period_journal.FOLDER / str(stream.pk)
    return {
        "state": dataset.state,
        "named": [dataset.upload, dataset.table],
        "has_key": keys.of(dataset.pk) is not None,
        "files": sorted(_names(records.folder(dataset.pk))),
        "stream": stream.state,
        "true_sums": bool(true_counts(stream.periods.all())),
        "decided_bytes": sum(file.stat().st_size for file in decided.iterdir()),
        "published": [release.is_ready, default_storage.exists(release.measurement), stream.periods.count()],
        "budget": [str(budget.spent), str(budget.reserved)],
        "receipt": bool(receipt and receipt.facts["dataset"] == dataset_id),
        "remembered": remembered and erasure_journal.receipt_of(dataset.pk) == (receipt and receipt.document),
        "recorded": AuditEntry.objects.filter(
            action="erased records", subject=f"dataset {dataset_id}"
        ).count(),
        "contradictions": list(erased_again.contradictions()),
    }


def erase(dataset_id: str) -> str:
    """Erase in this process; why not, if it is refused."""
    dataset = Dataset.objects.get(pk=dataset_id)
    try:
        datasets.erase(dataset, dataset.owner)
    except datasets.DatasetError as refusal:
        return str(refusal)
    return ""


def _names(folder: str) -> list[str]:
    try:
        return list(default_storage.listdir(folder)[1])
    except FileNotFoundError:
        return []


def _strike(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _before(function: Call) -> Call:
    return _strike


def _after(function: Call) -> Call:
    def struck(*args: Any, **kwargs: Any) -> Any:
        function(*args, **kwargs)
        _strike()

    return struck


def _before_a_receipt(function: Call) -> Call:
    def struck(path: Path, *args: Any, **kwargs: Any) -> Any:
        if path.name == erasure_journal.RECEIPT:
            _strike()
        return function(path, *args, **kwargs)

    return struck


# The steps in their order: of which module or thing, its name there, whether to strike before or after.
UNTOUCHED: dict[str, tuple[Any, str, Callable[[Call], Call]]] = {
    "files listed": (receipts, "files_of", _after),
    "streams closed": (datasets.erasing, "send", _after),
    "rows forgotten": (derived, "forget", _after),
    "key destroyed": (receipts, "destroy_key", _after),
    "recorded": (audit, "record", _after),
}
ERASED: dict[str, tuple[Any, str, Callable[[Call], Call]]] = {
    "committed": (period_journal, "forget_decision", _before),
    "stream's end remembered": (journal, "create", _after),
    "a decision erased": (journal, "erase", _after),
    "stream forgotten": (period_journal, "forget_decision", _after),
    "before it is remembered": (receipts, "remember", _before),
    "its place in the memory begun": (durable_files, "create_durably", _before_a_receipt),
    "remembered": (receipts, "remember", _after),
    "a file deleted": (default_storage, "delete", _after),
    "all files deleted": (records, "erase", _after),
}


if __name__ == "__main__":
    dataset_id, *point = sys.argv[1:]
    if point:
        place, name, when = {**UNTOUCHED, **ERASED}[point[0]]
        setattr(place, name, when(getattr(place, name)))
    sys.exit(erase(dataset_id))
