"""The spent charges of each dataset as they are remembered outside the database, and what its ledger lacks of them.

A charge is remembered before the transaction commits that spends it. So the memory has every charge that anything was
revealed for, and a ledger that lacks one was restored from an older copy. The caller holds the dataset's row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from dpportal import memory
from dpportal.budgets.models import LedgerEntry, MemoryMark
from dpportal.datasets.models import Dataset
from dpportal.memory import MemoryFaultError
from mechanisms.accounting import SYMBOL, Definition

FOLDER = "charges"
State = LedgerEntry.State


class RestoredError(Exception):
    """The database lacks what people have seen; the message says what to do."""


@dataclass(frozen=True)
class Charge:
    """A spent charge. outcome: where a release's measurement lies, so that no second one is ever drawn."""

    key: str
    amount: str
    definition: str
    delta_exponent: int
    neighbours: str
    unit_column: str
    ignore_case: bool
    reason: str
    by: str
    at: str
    outcome: Mapping[str, str] = field(default_factory=dict)

    @property
    def cost(self) -> Decimal:
        return Decimal(self.amount)

    @property
    def symbol(self) -> str:
        return SYMBOL[Definition(self.definition)]

    @property
    def spent_at(self) -> Any:
        return parse_datetime(self.at)


@dataclass(frozen=True)
class Remembered:
    """A dataset's charges by their keys. seen: whether an administrator has seen that the dataset is missing."""

    name: str
    charges: Mapping[str, Charge] = field(default_factory=dict)
    seen: bool = False

    def keep(self, dataset_id: UUID) -> None:
        content = {
            "name": self.name,
            "charges": [vars(charge) for charge in self.charges.values()],
            "seen": self.seen,
        }
        memory.remember(f"{FOLDER}/{dataset_id}", content)


def charges_of(dataset_id: UUID) -> Remembered | None:
    """Raises MemoryFaultError."""
    kept = memory.recall(f"{FOLDER}/{dataset_id}")
    if kept is None:
        return None
    charges = [Charge(**charge) for charge in kept["charges"]]
    return Remembered(kept["name"], {charge.key: charge for charge in charges}, kept["seen"])


def charge_of(entry: LedgerEntry) -> Charge | None:
    """What is remembered of a line, if it was spent. Raises MemoryFaultError."""
    known = charges_of(entry.dataset_id)
    return known.charges.get(str(entry.key)) if known else None


def missing(dataset: Dataset) -> list[Charge]:
    """The charges that the ledger lacks, the oldest first. Raises MemoryFaultError."""
    return _missing(charges_of(dataset.pk), _lines(dataset))


def require_complete(dataset: Dataset) -> Remembered | None:
    """The remembered charges. Raises RestoredError if the ledger lacks one, MemoryFaultError if the memory does."""
    require_mark()
    # Both before and after: who does not hold the dataset may be stopped here while another charge is spent. Spent ones
    # were remembered before, and remembered ones were reserved before.
    spent_before = _lines(dataset)
    known = charges_of(dataset.pk)
    _require_all(known, spent_before, dataset)
    lacking = _missing(known, _lines(dataset))
    if lacking:
        raise RestoredError(
            _(
                "The portal's database was put back from an older copy that lacks %(number)s charges of %(name)s. "
                "Nothing can be spent or published from it until an administrator has entered them, on the page Health."
            )
            % {"number": len(lacking), "name": dataset.name}
        )
    return known


def require_mark() -> None:
    """Raise MemoryFaultError unless the memory is the one that this database goes with."""
    if not has_mark():
        raise MemoryFaultError(_("The portal's memory is missing, or another one's. ") + memory.remedy())


def has_mark() -> bool:
    """Whether the memory is the one that this database goes with."""
    return MemoryMark.objects.filter(mark=memory.mark()).exists()


@transaction.atomic
def put_mark() -> None:
    """Let this database go with the memory that is there, or with a new one."""
    MemoryMark.objects.all().delete()
    MemoryMark.objects.create(mark=memory.new_mark())


def add(entry: LedgerEntry, outcome: Mapping[str, str], known: Remembered | None) -> None:
    """Remember that a charge is spent, beside those that are known already."""
    if known and str(entry.key) in known.charges:
        return
    charges = {**(known.charges if known else {}), str(entry.key): _charge(entry, outcome)}
    Remembered(entry.dataset.name, charges).keep(entry.dataset_id)


def accept(dataset: Dataset) -> None:
    """Remember what the ledger says, beside what is remembered already where that can be read."""
    try:
        known = charges_of(dataset.pk)
    except MemoryFaultError:
        known = None
    lines = dataset.ledger.filter(state=State.SPENT).select_related("budget", "by")
    spent = {str(line.key): _charge(line, {}) for line in lines}
    charges = {**spent, **(known.charges if known else {})}
    if charges:
        Remembered(dataset.name, charges).keep(dataset.pk)


def is_behind(dataset: Dataset) -> bool:
    """Whether the memory lacks a charge of the ledger, or cannot be read."""
    try:
        _require_all(charges_of(dataset.pk), _lines(dataset), dataset)
    except MemoryFaultError:
        return True
    return False


def _lines(dataset: Dataset) -> dict[str, str]:
    """The state of each line of the ledger by its key."""
    return {str(key): state for key, state in dataset.ledger.order_by().values_list("key", "state")}


def _missing(known: Remembered | None, lines: Mapping[str, str]) -> list[Charge]:
    # A charge that is reserved is settled by its job, which finds what was measured.
    lacking = [charge for key, charge in (known.charges if known else {}).items() if key not in lines]
    return sorted(lacking, key=lambda charge: charge.at)


def _require_all(known: Remembered | None, lines: Mapping[str, str], dataset: Dataset) -> None:
    spent = {key for key, state in lines.items() if state == State.SPENT}
    if spent - set(known.charges if known else ()):
        raise MemoryFaultError(
            _("The portal's memory lacks charges of %(name)s that its ledger has. ") % {"name": dataset.name}
            + memory.remedy()
        )


def _charge(entry: LedgerEntry, outcome: Mapping[str, str]) -> Charge:
    account = entry.budget
    return Charge(
        key=str(entry.key),
        amount=str(entry.amount),
        definition=account.definition,
        delta_exponent=account.delta_exponent,
        neighbours=account.neighbours,
        unit_column=account.unit_column,
        ignore_case=account.ignore_case,
        reason=entry.reason,
        by=entry.by.get_username(),
        at=(entry.settled_at or timezone.now()).isoformat(),
        outcome=dict(outcome),
    )
