"""Which datasets' records were erased, as it is remembered outside the database: a file for each, with its receipt.

A database that was put back from an older copy has them as records that can be counted, with the key that was
destroyed. The file is created once the transaction has committed that erases, so a commit that fails erases nothing
later; where somebody dies between the two, the sweep creates it.
"""

from __future__ import annotations

from uuid import UUID

from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError

FOLDER, RECEIPT = "erased", "receipt"


def remember(dataset_id: UUID, document: str) -> None:
    """Remember that a dataset was erased, unless it is remembered. document: its receipt. Raises MemoryFaultError."""
    if not journal.holds(_name(dataset_id)):
        journal.create(_name(dataset_id), {"receipt": document})


def receipt_of(dataset_id: UUID) -> str:
    """The receipt that was given out for a dataset of `known_ids`. Raises MemoryFaultError."""
    content = journal.recall(_name(dataset_id))
    if not content:  # emptied, which nothing of the portal does
        raise MemoryFaultError(journal.remedy())
    return str(content["receipt"])


def known_ids() -> set[UUID]:
    """Which datasets were ever erased; also one of which somebody died before its file was there.

    Raises MemoryFaultError.
    """
    return {UUID(name) for name in journal.names(FOLDER)}


def _name(dataset_id: UUID) -> str:
    return f"{FOLDER}/{dataset_id}/{RECEIPT}"
