"""The settled charges of each dataset as they are remembered outside the database, and what its ledger lacks of them.

A charge is spent or void from the moment that its file exists, just before the transaction commits that says so, and
the first writer of that file decides: a worker that wakes late finds what was decided without it. So the memory has
every charge that anything was revealed for, and a ledger that lacks one was restored from an older copy.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import CharField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from dpportal.budgets import charge_places
from dpportal.budgets.charge_places import Ending
from dpportal.budgets.models import LedgerEntry, MemoryMark
from dpportal.datasets import near_duplicates
from dpportal.datasets.models import Dataset
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from mechanisms.accounting import SYMBOL, Definition

FOLDER = "charges"
# Begins the name that says how many charges of a missing dataset an administrator has seen.
NOTED = "noted."
# All charges of a dataset are compared so often by each process, when they are asked about.
COMPARED_EVERY_SECONDS = 600.0
# When they were compared, and how many charges more the memory had than the ledger had settled.
_compared: dict[tuple[Path, UUID], tuple[float, int]] = {}
EntryState = LedgerEntry.State


class RestoredError(Exception):
    """The database lacks what people have seen; the message says what to do."""


@dataclass(frozen=True)
class Charge:
    """A settled charge.

    key: of its line, in hexadecimal digits. dataset: its name. is_void: nothing was or will be paid with it. outcome:
    where a release's measurement lies, so that no second one is ever drawn. total_public: as in its line. bound: the
    ids of the datasets that were bound together with its own. These two are None in files of before they were kept.
    delta: what it spent of δ besides.
    """

    key: str
    dataset: str
    amount: str
    definition: str
    delta_exponent: int
    neighbours: str
    unit_column: str
    ignore_case: bool
    reason: str
    by: str
    at: str
    is_void: bool = False
    outcome: Mapping[str, str] = field(default_factory=dict)
    total_public: bool | None = None
    bound: Sequence[str] | None = None
    delta: str = "0"

    @property
    def cost(self) -> Decimal:
        return Decimal(self.amount)

    @property
    def cost_delta(self) -> Decimal:
        return Decimal(self.delta)

    @property
    def symbol(self) -> str:
        return SYMBOL[Definition(self.definition)]

    @property
    def spent_at(self) -> datetime | None:
        return parse_datetime(self.at)

    @classmethod
    def of(cls, entry: LedgerEntry, outcome: Mapping[str, str], *, is_void: bool = False) -> Charge:
        account = entry.budget
        return cls(
            key=entry.key.hex,
            dataset=entry.dataset.name,
            amount=str(entry.amount),
            definition=account.definition,
            delta_exponent=account.delta_exponent,
            neighbours=account.neighbours,
            unit_column=account.unit_column,
            ignore_case=account.ignore_case,
            reason=entry.reason,
            by=entry.by.get_username(),
            at=(entry.settled_at or timezone.now()).isoformat(),
            is_void=is_void,
            outcome=dict(outcome),
            total_public=entry.total_public,
            bound=_bound_to(entry.dataset),
            delta=str(entry.delta),
        )

    def binds(self, dataset: Dataset) -> bool:
        """Whether it was paid for nearly the people of another dataset.

        Where that was not kept, all the datasets of whoever paid may be such ones.
        """
        if self.bound is None:
            return dataset.owner.get_username() == self.by
        return str(dataset.pk) in self.bound


def _bound_to(dataset: Dataset) -> list[str]:
    others = Dataset.objects.filter(dataset.binds).exclude(pk=dataset.pk)
    return sorted(map(str, others.values_list("pk", flat=True)))


def recall(dataset_id: UUID, key: str) -> Charge | None:
    """What is remembered of a charge, if it was settled. Raises MemoryFaultError."""
    content = journal.recall(_name(dataset_id, key))
    if content == {}:
        raise MemoryFaultError(journal.remedy())
    return Charge(**content) if content else None


def charge_of(entry: LedgerEntry) -> Charge | None:
    """What is remembered of a line, if it was settled. Raises MemoryFaultError."""
    return recall(entry.dataset_id, entry.key.hex)


def is_settled(dataset_id: UUID, key: str) -> bool:
    """Whether the charge with this key was spent or is void. Raises MemoryFaultError."""
    return journal.holds(_name(dataset_id, key))


def settle(entry: LedgerEntry, outcome: Mapping[str, str], *, is_void: bool = False) -> Charge:
    """Remember that a charge is spent or void, unless it is settled; returns how it is settled for good.

    Raises MemoryFaultError.
    """
    if not is_void:
        charge_places.take(entry.dataset_id, entry.key.hex)
    return _remember(entry, outcome, is_void=is_void)


def _remember(entry: LedgerEntry, outcome: Mapping[str, str], *, is_void: bool = False) -> Charge:
    charge = Charge.of(entry, outcome, is_void=is_void)
    if journal.create(_name(entry.dataset_id, charge.key), asdict(charge)):
        return charge
    settled = charge_of(entry)
    assert settled is not None
    return settled


def missing(dataset: Dataset) -> list[Charge]:
    """The spent charges that the ledger lacks, the oldest first. Raises MemoryFaultError."""
    return _missing(dataset, keys(dataset.pk), _lines(dataset)[dataset.pk])


def charges_of(dataset_id: UUID) -> list[Charge]:
    """All spent charges of a dataset, the oldest first; for one that the database lacks. Raises MemoryFaultError."""
    return _spent(dataset_id, keys(dataset_id))


def bound_by(dataset: Dataset, charges: Collection[Charge]) -> set[Dataset]:
    """The datasets that charges were bound to; where that was not kept, each with a budget and a similar table."""
    named = {name for charge in charges for name in charge.bound or ()}
    bound = set(Dataset.objects.filter(pk__in=named))
    if any(charge.bound is None for charge in charges):
        similar = near_duplicates.with_budget(near_duplicates.similar_datasets(dataset))
        bound |= {other.dataset for other in similar}
    return bound


def keys(dataset_id: UUID) -> set[str]:
    """The keys of a dataset's settled charges; no file is read."""
    return {name for name in journal.names(f"{FOLDER}/{dataset_id}") if not name.startswith(NOTED)}


def dataset_ids() -> list[UUID]:
    """The datasets of which any charge is remembered."""
    return [UUID(name) for name in journal.names(FOLDER)]


def gone_ids() -> list[UUID]:
    """The datasets of which charges are remembered and that the database lacks."""
    there = set(Dataset.objects.values_list("pk", flat=True))
    return [dataset_id for dataset_id in dataset_ids() if dataset_id not in there]


def outcomes_beyond(known: Collection[str]) -> Iterator[Mapping[str, str]]:
    """The outcomes of all charges but those with the keys `known`. Raises MemoryFaultError."""
    require_mark()
    for dataset_id in dataset_ids():
        for key in keys(dataset_id).difference(known):
            charge = recall(dataset_id, key)
            if charge is not None:
                yield charge.outcome


def is_noted(dataset_id: UUID) -> bool:
    """Whether an administrator has seen as many charges as there are of a dataset that is missing."""
    return journal.holds(_name(dataset_id, f"{NOTED}{len(keys(dataset_id))}"))


def note(dataset_id: UUID) -> None:
    """Remember that it is known how many charges a dataset had that this database lacks."""
    journal.create(_name(dataset_id, f"{NOTED}{len(keys(dataset_id))}"))


def require_complete(*datasets: Dataset) -> None:
    """Raises RestoredError if the ledger lacks a remembered charge, MemoryFaultError if the memory lacks one.

    All charges are compared now and then, and when one was lost; between, whether both end alike.
    """
    require_mark()
    if unsure := _unsure(datasets):
        _compare_all(unsure)
    for gone in gone_ids():
        if not is_noted(gone):
            known = charges_of(gone)
            for dataset in datasets:
                _require_known(dataset, [charge for charge in known if charge.binds(dataset)])


def _unsure(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Those of which all charges have to be compared."""
    lately = [dataset for dataset in datasets if _is_lately_compared(dataset.pk)]
    # The ledger first: what commits meanwhile is then in the memory, too.
    endings = charge_places.endings(lately) if lately else {}
    alike = {pk for pk, ending in endings.items() if _ends_alike(pk, ending)}
    return [dataset for dataset in datasets if dataset.pk not in alike]


def _is_lately_compared(dataset_id: UUID) -> bool:
    compared_at, _further_then = _compared.get((settings.MEMORY_DIR, dataset_id), (-math.inf, 0))
    return time.monotonic() - compared_at <= COMPARED_EVERY_SECONDS


def _ends_alike(dataset_id: UUID, ending: Ending) -> bool:
    """Whether none was lost since all were compared, and ledger and memory have the same newest charges."""
    _compared_at, further = _compared[settings.MEMORY_DIR, dataset_id]
    if _uncounted_charges(dataset_id, ending) < further or not ending.newest:
        return False
    return is_settled(dataset_id, ending.newest) and charge_places.are_current(dataset_id, ending.spent)


def _compare_all(datasets: Sequence[Dataset]) -> None:
    # The ledger is read before and after the memory: what another job spends meanwhile is in both, or in neither.
    endings = charge_places.endings(datasets)
    further = {dataset.pk: _uncounted_charges(dataset.pk, endings[dataset.pk]) for dataset in datasets}
    before, settled = _lines(*datasets), {dataset.pk: keys(dataset.pk) for dataset in datasets}
    for dataset in datasets:
        _require_all(dataset, settled[dataset.pk], before[dataset.pk])
    # Lines are never deleted, so what was there before is there now.
    behind = [dataset for dataset in datasets if not before[dataset.pk].keys() >= settled[dataset.pk]]
    after = _lines(*behind) if behind else {}
    for dataset in behind:
        _require_known(dataset, _missing(dataset, settled[dataset.pk], after[dataset.pk]))
    for dataset in datasets:
        with suppress(MemoryFaultError):  # where it can be read alone, there is nothing to begin
            charge_places.begin(dataset.pk, endings[dataset.pk].spent)
        _compared[settings.MEMORY_DIR, dataset.pk] = time.monotonic(), further[dataset.pk]


def _uncounted_charges(dataset_id: UUID, ending: Ending) -> int:
    """How many charges the memory has beside those that the ledger has settled.

    A job that is about to commit adds one for a moment; only a lost file, or a ledger with more than it, lowers it.
    """
    return journal.count(f"{FOLDER}/{dataset_id}") - ending.settled


def _require_known(dataset: Dataset, lacking: list[Charge]) -> None:
    if lacking:
        raise RestoredError(
            _(
                "The portal's database was put back from an older copy that lacks %(number)s charges of %(name)s, or "
                "of another dataset of nearly the same people. Nothing can be spent or published from it until an "
                "administrator has entered them, on the page Health."
            )
            % {"number": len(lacking), "name": dataset.name}
        )


def require_mark() -> None:
    """Raise MemoryFaultError unless the memory is the one that this database goes with."""
    if not has_mark():
        raise MemoryFaultError(journal.lost_text())


def has_mark() -> bool:
    """Whether the memory is the one that this database goes with."""
    return MemoryMark.objects.filter(mark=journal.mark()).exists()


@transaction.atomic
def put_mark() -> None:
    """Let this database go with the memory that is there, or with a new one."""
    MemoryMark.objects.all().delete()
    MemoryMark.objects.create(mark=journal.new_mark())


def obstacle() -> str:
    """Why this machine can neither spend nor publish; empty if it can."""
    try:
        require_mark()
        journal.probe()
    except MemoryFaultError as fault:
        return str(fault)
    return ""


def accept(dataset: Dataset, outcomes: Mapping[str, Mapping[str, str]]) -> None:
    """Remember what the ledger says, beside what is remembered already where that can be read.

    outcomes: what else is to be remembered of charges, by their keys.
    """
    for line in dataset.ledger.filter(state=EntryState.SPENT).select_related("budget", "by", "dataset"):
        outcome = outcomes.get(line.key.hex, {})
        try:
            _remember(line, outcome)
        except MemoryFaultError:
            journal.replace(_name(dataset.pk, line.key.hex), asdict(Charge.of(line, outcome)))


def is_behind(dataset: Dataset) -> bool:
    """Whether the memory lacks a charge of the ledger, or cannot be read."""
    try:
        _require_all(dataset, keys(dataset.pk), _lines(dataset)[dataset.pk])
    except MemoryFaultError:
        return True
    return False


def _name(dataset_id: UUID, key: str) -> str:
    return f"{FOLDER}/{dataset_id}/{key}"


def _lines(*datasets: Dataset) -> dict[UUID, dict[str, str]]:
    """The state of each line of each dataset's ledger by its key, as text: they are compared with names of files."""
    keyed = LedgerEntry.objects.order_by().annotate(text=Cast("key", CharField()))
    lines = keyed.filter(dataset__in=datasets).values_list("dataset_id", "text", "state")
    states: dict[UUID, dict[str, str]] = {dataset.pk: {} for dataset in datasets}
    for dataset_id, key, state in lines.iterator():
        states[dataset_id][key.replace("-", "")] = state
    return states


def _missing(dataset: Dataset, settled: set[str], lines: Mapping[str, str]) -> list[Charge]:
    # A charge that is reserved is settled by its job, which finds what was measured.
    return _spent(dataset.pk, settled.difference(lines))


def _spent(dataset_id: UUID, settled: Collection[str]) -> list[Charge]:
    charges = (recall(dataset_id, key) for key in settled)
    return sorted((c for c in charges if c and not c.is_void), key=lambda charge: charge.at)


def _require_all(dataset: Dataset, settled: set[str], lines: Mapping[str, str]) -> None:
    spent = {key for key, state in lines.items() if state == EntryState.SPENT}
    # Looked for by name, too: a file server may list what was there a moment ago.
    if any(not journal.holds(_name(dataset.pk, key)) for key in spent - settled):
        raise MemoryFaultError(
            _("The portal's memory lacks charges of %(name)s that its ledger has. ") % {"name": dataset.name}
            + journal.remedy()
        )
