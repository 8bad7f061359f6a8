"""The places of spent charges in the journal, in the order in which they were remembered: the last ones tell enough.

A database that was put back lacks the newest charges, and a journal that was put back lacks them, too. So nothing older
has to be looked at: where n charges are spent, place n is taken, and each charge at a later place is in the ledger, as
that of a job which has not committed yet. A place is a file that is created once, before that of its charge: whoever is
stopped in between leaves a place that a later attempt finds or leaves empty, which costs a look and forgets nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, OuterRef, Q, Subquery

from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.models import Dataset
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError

FOLDER = "places"
# Beyond so many places of jobs that have not committed, all charges are compared.
MOST_OPEN = 50


@dataclass(frozen=True)
class Ending:
    """How a dataset's ledger ends. settled: lines. newest: the key of the one spent last, or none."""

    settled: int
    spent: int
    newest: str


def endings(datasets: Collection[Dataset]) -> dict[UUID, Ending]:
    """The ending of each dataset's ledger, by one query for all of them."""
    last = LedgerEntry.objects.filter(dataset=OuterRef("pk"), state=LedgerEntry.State.SPENT).order_by(
        "-settled_at", "-pk"
    )
    is_spent, is_void = Q(ledger__state=LedgerEntry.State.SPENT), Q(ledger__state=LedgerEntry.State.VOID)
    annotated = Dataset.objects.filter(pk__in=[dataset.pk for dataset in datasets]).annotate(
        settled=Count("ledger", filter=is_spent | is_void),
        spent=Count("ledger", filter=is_spent),
        newest=Subquery(last.values("key")[:1]),
    )
    return {
        pk: Ending(settled, spent, newest.hex if newest else "")
        for pk, settled, spent, newest in annotated.order_by().values_list("pk", "settled", "spent", "newest")
    }


def take(dataset_id: UUID, key: str) -> None:
    """Take the next place for a charge that is about to be spent, unless it has one. Raises MemoryFaultError.

    In a transaction that holds the dataset's lock.
    """
    place = _spent(dataset_id) + 1
    while not journal.create(_name(dataset_id, place), {"key": key}):
        if _key_at(dataset_id, place) == key:
            return
        place += 1


def begin(dataset_id: UUID, spent: int) -> None:
    """Mark where a dataset stands whose charges were all compared: so it is from where places are counted."""
    if spent:
        journal.create(_name(dataset_id, spent), {"key": ""})


def are_current(dataset_id: UUID, spent: int) -> bool:
    """Whether ledger and journal end alike; False where all charges have to be compared. Raises MemoryFaultError."""
    if not spent or not journal.holds(_name(dataset_id, spent)):
        return False
    later = [key for _, key in zip(range(MOST_OPEN + 1), _later_keys(dataset_id, spent), strict=False)]
    named = {UUID(key) for key in later if key}
    known = LedgerEntry.objects.filter(dataset=dataset_id, key__in=named).count()
    return len(later) <= MOST_OPEN and known == len(named)


def _later_keys(dataset_id: UUID, place: int) -> Iterator[str]:
    """The keys at the places after this one, up to the first that is free."""
    while (key := _key_at(dataset_id, place := place + 1)) is not None:
        yield key


def _key_at(dataset_id: UUID, place: int) -> str | None:
    content = journal.recall(_name(dataset_id, place))
    if content == {}:
        raise MemoryFaultError(journal.remedy())
    return None if content is None else str(content["key"])


def require_all_places(dataset_id: UUID, place: str) -> None:
    """Raises MemoryFaultError unless the file of a place says whose it is."""
    _key_at(dataset_id, int(place))


def _spent(dataset_id: UUID) -> int:
    return LedgerEntry.objects.filter(dataset=dataset_id, state=LedgerEntry.State.SPENT).count()


def _name(dataset_id: UUID, place: int) -> str:
    return f"{FOLDER}/{dataset_id}/{place}"
