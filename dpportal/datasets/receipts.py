"""Receipts of erasure: what was erased, when and by whom, signed with the portal's key.

The dataset's key is destroyed first, and the receipt written in the same transaction; then the files are deleted.
"""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_noop

from dpportal.accounts.models import User
from dpportal.datasets import erasure_journal, keys, records
from dpportal.datasets.models import Dataset
from dpportal.history.canonical import CanonicalValue, canonical
from dpportal.history.watched import WatchedManager
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json
from dpportal.platform.keyed import signing_keys
from dpportal.platform.sealed_files import HEAD_BYTES
from mechanisms.verify.receipt import ERASED, as_file

log = logging.getLogger(__name__)

# What the portal does by itself after a restore, as the audit record has it.
ERASED_AGAIN = gettext_noop("erased records after a restore")
# What of the records is still there afterwards. Receipts of earlier versions do not say it.
STAYS = (
    "a fingerprint of the table's content, made with a key of the portal",
    "an encrypted sample of rows and columns, by which nearly the same table is recognised",
    "what was published",
    "true sums and noise of a running count in the portal's memory, where that could not be reached: the portal erases "
    "them as soon as it can",
    "the wrapped key, and sealed values that were read from the records, in backups of the database, as long as these "
    "are kept, and in a database server's own log, until it is overwritten",
    "of a dataset that an earlier version read: digests of the size of its file and of its columns' names in the "
    "history, made with a key of the portal",
)


class ErasureReceipt(models.Model):
    """The receipt of a dataset, as the bytes that are given out. It stays when all else of the dataset has gone.

    key_gone_at: when the last copy of the key, and of sealed values that were deleted with it, left the database's own
    files: see `key_traces`.
    """

    dataset_id = models.UUIDField(primary_key=True, editable=False)
    document = models.TextField(editable=False)
    key_gone_at = models.DateTimeField(null=True, editable=False)

    objects = WatchedManager()

    def __str__(self) -> str:
        return str(self.dataset_id)

    @property
    def facts(self) -> Json:
        """What was signed."""
        return dict(json.loads(self.document)["receipt"])

    @property
    def erased_at(self) -> datetime:
        return datetime.fromisoformat(self.facts["at"])

    @property
    def file_count(self) -> int:
        """How many files were there; 0 where the storage did not say."""
        files = self.facts["files"]
        return len(files) if isinstance(files, list) else 0


def receipt_of(dataset_id: UUID) -> ErasureReceipt | None:
    """The receipt of an erased dataset; None for one that was erased by an earlier version."""
    return ErasureReceipt.objects.filter(pk=dataset_id).first()


def destroy_key(dataset: Dataset, files: CanonicalValue, by: User, because: str) -> None:
    """Destroy the dataset's key, and write down that, and what of its records was there. For one transaction.

    files: from `files_of`, which asks the storage.
    """
    facts: dict[str, CanonicalValue] = {
        "what": ERASED,
        "dataset": str(dataset.pk),
        "name": dataset.name,
        "at": timezone.now().isoformat(timespec="seconds"),
        "by": by.get_username(),
        "because": because,
        "key": _key_facts(dataset),
        "files": files,
        "stays": list(STAYS),
    }
    put_back(dataset.pk, as_file(facts, signing_keys().sign(canonical(facts))).decode())


def put_back(dataset_id: UUID, document: str) -> None:
    """Destroy the dataset's key, of which this receipt says so. For one transaction."""
    keys.destroy(dataset_id)
    ErasureReceipt.objects.update_or_create(
        pk=dataset_id, defaults={"document": document, "key_gone_at": None}
    )


def remember(dataset_id: UUID) -> None:
    """Remember outside the database that a dataset was erased; where that cannot be reached, the sweep does later.

    Records are not kept for that.
    """
    try:
        erasure_journal.remember(dataset_id, ErasureReceipt.objects.get(pk=dataset_id).document)
    except MemoryFaultError as fault:
        log.warning("an erasure is remembered later: %s", fault)


def _key_facts(dataset: Dataset) -> CanonicalValue:
    """The key by the digest of its wrapped form, by which a copy of it in a backup is recognised."""
    key = keys.key_of(dataset.pk)
    if key is None:
        return {"destroyed": False, "why": "there was none: no file of this dataset was sealed"}
    return {"destroyed": True, "sha256_when_wrapped": hashlib.sha256(bytes(key.wrapped)).hexdigest()}


def files_of(dataset: Dataset) -> CanonicalValue:
    """Each file with the digest of its head, in which every sealed file differs from all others; never its length."""
    try:
        return [
            {"name": each.name, f"sha256_of_first_{HEAD_BYTES}_bytes": each.digest or "not sealed"}
            for each in records.described_files(dataset.pk)
        ]
    except storage.StorageFault:
        return "not listed, since the file storage did not answer; they are deleted as soon as it does"
