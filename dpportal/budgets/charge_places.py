"""The places of spent charges in the journal, in the order in which they were remembered: the last ones tell enough.

A database that was put back lacks the newest charges, and a journal that was put back lacks them, too. So nothing older
has to be looked at: where n charges are spent, place n is taken, and each charge at a later place is in the ledger, as
that of a job which has not committed yet. A place is a file that is created once, before that of its charge: whoever is
stopped in between leaves a place that a later attempt finds or leaves empty, which costs a look and forgets nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.models import Dataset
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError

FOLDER = "places"
# Beyond so many places of jobs that have not committed, all charges are compared.
MOST_OPEN = 50
State = LedgerEntry.State


def take(dataset_id: UUID, key: str) -> None:
    """Take the next place for a charge that is about to be spent, unless it has one. Raises MemoryFaultError.

    In a transaction that holds the dataset's lock.
    """
    place = _spent(dataset_id) + 1
    while not journal.create(_name(dataset_id, place), {"key": key}):
        if _key_at(dataset_id, place) == key:
            return
        place += 1


def begin(dataset: Dataset) -> None:
    """Mark where a dataset stands whose charges were all compared: so it is from where places are counted."""
    if spent := _spent(dataset.pk):
        journal.create(_name(dataset.pk, spent), {"key": ""})


def are_current(dataset: Dataset) -> bool:
    """Whether ledger and journal end alike; False where all charges have to be compared. Raises MemoryFaultError."""
    spent = _spent(dataset.pk)
    if not spent or not journal.holds(_name(dataset.pk, spent)):
        return False
    later = [key for _, key in zip(range(MOST_OPEN + 1), _later(dataset.pk, spent), strict=False)]
    known = LedgerEntry.objects.filter(dataset=dataset, key__in=[UUID(key) for key in later if key]).count()
    return len(later) <= MOST_OPEN and known == len({key for key in later if key})


def newest_spent(dataset: Dataset) -> str:
    """The key of the charge that was spent last; empty where none was."""
    spent = dataset.ledger.filter(state=State.SPENT).order_by("-settled_at", "-pk")
    key = spent.values_list("key", flat=True).first()
    return key.hex if key else ""


def _later(dataset_id: UUID, place: int) -> Iterator[str]:
    """The keys at the places after this one, up to the first that is free."""
    while (key := _key_at(dataset_id, place := place + 1)) is not None:
        yield key


def _key_at(dataset_id: UUID, place: int) -> str | None:
    content = journal.recall(_name(dataset_id, place))
    if content == {}:
        raise MemoryFaultError(journal.remedy())
    return None if content is None else str(content["key"])


def require_whole(dataset_id: UUID, place: str) -> None:
    """Raises MemoryFaultError unless the file of a place says whose it is."""
    _key_at(dataset_id, int(place))


def _spent(dataset_id: UUID) -> int:
    return LedgerEntry.objects.filter(dataset=dataset_id, state=State.SPENT).count()


def _name(dataset_id: UUID, place: int) -> str:
    return f"{FOLDER}/{dataset_id}/{place}"
