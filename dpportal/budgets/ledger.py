"""The only writer of budgets and of the ledger.

Every change is one new ledger line and then one conditional UPDATE of the budget row, whose row count decides, in one
transaction; CHECK constraints and triggers stand behind it. So concurrent reservations never grant more than there is.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import User
from dpportal.approvals import acts
from dpportal.budgets import charge_journal, refusals, second_person
from dpportal.budgets.account_amounts import require_granted
from dpportal.budgets.amounts import STEP, plain, stored, stored_delta, with_delta
from dpportal.budgets.booking import Booking as Booking, GrantTerms as GrantTerms, own_booking
from dpportal.budgets.charge_journal import RestoredError
from dpportal.budgets.ledger_lines import LINE, SETTLED
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.requests import announce_grant, answer_by_grant, answered_text
from dpportal.budgets.writing import writing
from dpportal.datasets import near_duplicates
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.datasets.protection import Protection
from dpportal.datasets.services import lock_dataset
from dpportal.history import chain, watched
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.two_people import KNOWN_TABLES, SPENDS
from mechanisms.accounting import Definition

Kind, State = LedgerEntry.Kind, LedgerEntry.State
# Sent when the promises of a dataset have changed, in the same transaction.
charged = Signal()
USUAL_TERMS = GrantTerms()


class BudgetRefusedError(Exception):
    """A change of the budget that is not possible; the message says why and what to do."""


class BudgetOnHoldError(BudgetRefusedError):
    """The dataset pays for nothing until an administrator has seen to ledger or memory; then it goes on."""


@transaction.atomic
def grant(
    dataset: Dataset,
    amount: Decimal,
    *,
    definition: str,
    reason: str,
    by: User,
    terms: GrantTerms = USUAL_TERMS,
) -> LedgerEntry:
    """Add to the account of the protection that is declared now; its first grant fixes whether it counts ε or ρ.

    Refused if a dataset with nearly the same table has a budget and `terms` does not name it, since people would be
    spent on twice. Refused if somebody has answered its question meanwhile, so that no question is granted twice.
    """
    _check_positive(amount, terms.delta)
    # The lock lets two first grants at once open one account, and not one each.
    known = lock_with_similar(dataset)
    require_complete(dataset)
    if has_no_table(dataset):
        raise BudgetRefusedError(refusals.no_table_text())
    if known:
        _bind(dataset, known, terms, by)
    budget = Budget.of(dataset) or _opened(dataset, definition, terms.delta_exponent)
    if budget.definition != definition:
        raise BudgetRefusedError(refusals.other_kind_text(budget))
    if budget.is_moved_by(terms.delta_exponent):
        raise BudgetRefusedError(refusals.other_delta_text(budget))
    granted = with_delta(f"{budget.symbol} = {plain(amount)}", terms.delta)
    if terms.answers and not answer_by_grant(terms.answers, granted, reason):
        raise BudgetRefusedError(answered_text())
    if not terms.answers:
        announce_grant(dataset, granted, reason)
    audit.record(by, "granted a budget", dataset, granted)
    named = second_person.with_name(reason, acts.approval_of(KNOWN_TABLES, dataset.pk))
    entry = _append(budget, Kind.GRANT, State.BOOKED, amount, own_booking(named, terms.delta), by)
    _change(_budget_of(entry), **_moved(entry, total=1), delta_exponent=terms.delta_exponent)
    Dataset.objects.filter(pk=dataset.pk).update(granted_fingerprint=dataset.fingerprint)
    return entry


def _bind(dataset: Dataset, known: list[SimilarDataset], terms: GrantTerms, by: User) -> None:
    """What is spent on either is said of both. Raises BudgetRefusedError unless the grant names all of them."""
    if {other.dataset.pk for other in known} - set(terms.knowing):
        raise BudgetRefusedError(refusals.unknowing_text())
    if second_person.lacks_approval_of_grant(dataset.pk):
        raise BudgetRefusedError(second_person.missing_text())
    _bind_people(dataset, [other.dataset for other in known])
    audit.record(by, "granted for a known table", dataset, near_duplicates.clauses_of(known))
    charged.send(Budget, dataset=dataset)  # what binds it is more than before


def _bind_people(dataset: Dataset, others: Collection[Dataset]) -> None:
    with watched.joining(Dataset.same_people.field, dataset, others):
        dataset.same_people.add(*others)


def lock_with_similar(dataset: Dataset) -> list[SimilarDataset]:
    """The similar datasets that have a budget; none of them is granted more until this transaction ends."""
    similar = near_duplicates.written_similar(dataset, BudgetRefusedError)
    lock_dataset(dataset, *(k.dataset for k in similar))
    return near_duplicates.with_budget(similar)


def _opened(dataset: Dataset, definition: str, delta_exponent: int) -> Budget:
    """A new account; beside others it is for the protection that is declared now."""
    kind = {"definition": definition, "delta_exponent": delta_exponent}
    if not dataset.budgets.exists():
        return _account(dataset, kind, is_fixed=False)
    return _account(dataset, kind, is_fixed=True, **asdict(Protection.of(dataset.current_domain())))


@transaction.atomic
def reduce(
    budget: Budget | None, amount: Decimal, *, reason: str, by: User, delta: Decimal = Decimal(0)
) -> LedgerEntry:
    """Take back a part of an account that is neither spent nor reserved."""
    _check_positive(amount, delta)
    if budget is None:
        raise BudgetRefusedError(refusals.reduction_text(None))
    lock_dataset(budget.dataset)
    entry = _append(budget, Kind.REDUCTION, State.BOOKED, amount, own_booking(reason, delta), by)
    if not _change(_budgets_with(amount, delta).filter(pk=budget.pk), **_moved(entry, total=-1)):
        raise BudgetRefusedError(refusals.reduction_text(Budget.objects.get(pk=budget.pk)))
    taken = with_delta(f"{budget.symbol} = {plain(amount)}", delta)
    audit.record(by, "reduced a budget", budget.dataset, taken)
    return entry


@transaction.atomic
def reserve(
    dataset: Dataset, amount: Decimal, booking: Booking, *, definition: Definition, by: User
) -> LedgerEntry:
    """Set an amount aside for a job, from the account of the protection that is declared now.

    definition: whether the amount is of ε or ρ; what it takes of δ besides is in its booking.
    Like every change of an account this begins with the dataset's lock, so that no two wait for each other. The first
    reservation fixes the protection of its account. Refused if not that much is left or was ever granted, if it counts
    the other of ε and ρ, if all accounts are for other protections: their losses would not add up; or if the table is
    another one than that which the last grant was made for.
    """
    _check_positive(amount, booking.delta)
    lock_dataset(dataset)
    require_complete(dataset)
    _require_unsettled(dataset, booking.key)
    if second_person.lacks_approval(amount, dataset, definition, booking.key):
        raise BudgetRefusedError(second_person.missing_text())
    approval = acts.approval_of(SPENDS, booking.key)
    booking = replace(booking, reason=second_person.with_name(booking.reason, approval))
    fixed = {"is_fixed": True, **asdict(Protection.of(dataset.current_domain()))}
    enough = _budgets_with(amount, booking.delta).filter(dataset=dataset, definition=definition.value)
    budget = enough.filter(**fixed).first() or enough.filter(is_fixed=False).first()
    if budget is None:
        raise BudgetRefusedError(refusals.refusal_text(dataset, amount, definition, booking.delta))
    if not is_granted_table(dataset):
        raise BudgetRefusedError(refusals.read_again_text())
    require_granted(budget, BudgetRefusedError)
    entry = _append(budget, Kind.CHARGE, State.RESERVED, amount, booking, by)
    if not _change(enough.filter(pk=budget.pk), **_moved(entry, reserved=1), **fixed):
        raise BudgetRefusedError(refusals.refusal_text(dataset, amount, definition, booking.delta))
    budget.refresh_from_db()  # whom it protects by now
    charged.send(Budget, dataset=dataset)
    return entry


def is_granted_table(dataset: Dataset) -> bool:
    """Whether the table is the one that an administrator saw at the last grant.

    Asked of every table, whether or not it is like another one: a curator is to learn nothing of that.
    """
    return dataset.fingerprint == dataset.granted_fingerprint


def _require_unsettled(dataset: Dataset, key: uuid.UUID) -> None:
    """A draft that an older copy of the database brought back is not confirmed a second time."""
    if LedgerEntry.objects.filter(key=key).exists():
        raise BudgetRefusedError(refusals.released_before_text())
    if charge_journal.is_settled(dataset.pk, key.hex):
        raise BudgetRefusedError(refusals.void_text())


@transaction.atomic
def spend(entry: LedgerEntry, outcome: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Turn a reservation into a spent charge, once; a second call changes nothing.

    At the end of the caller's transaction: the charge is remembered outside the database, and that is not rolled back.
    outcome: what else is remembered of it. Returns what is remembered for good, which an earlier attempt may have
    decided whose transaction did not commit. Raises BudgetRefusedError, or BudgetOnHoldError.
    """
    lock_dataset(entry.dataset)
    require_complete(entry.dataset)
    try:
        settled = charge_journal.settle(entry, outcome or {})
    except MemoryFaultError as fault:
        raise BudgetOnHoldError(str(fault)) from None
    if settled.is_void:
        raise BudgetRefusedError(refusals.void_text())
    if _spend(entry):
        charged.send(Budget, dataset=entry.dataset)
    return settled.outcome


def _spend(entry: LedgerEntry) -> bool:
    settled = _settle(entry, State.SPENT)
    if settled:
        _change(_budget_of(entry), **_moved(entry, reserved=-1, spent=1))
    return settled


@transaction.atomic
def void(entry: LedgerEntry) -> bool:
    """Release a reservation, once; a spent charge stays spent, even where only the memory knows that it is: then False.

    While the memory cannot be reached, the amount stays reserved.
    """
    lock_dataset(entry.dataset)
    try:
        charge_journal.require_mark()
        settled = charge_journal.settle(entry, {}, is_void=True)
    except MemoryFaultError:
        return True
    if not settled.is_void:
        _spend(entry)
    elif _settle(entry, State.VOID):
        _change(_budget_of(entry), **_moved(entry, reserved=-1))
    charged.send(Budget, dataset=entry.dataset)
    return settled.is_void


def outcome_of(entry: LedgerEntry) -> Mapping[str, str] | None:
    """What is remembered of a charge that was spent; None if it was not settled.

    Raises BudgetRefusedError if it is void, BudgetOnHoldError if that cannot be known.
    """
    try:
        charge_journal.require_mark()
        charge = charge_journal.charge_of(entry)
    except MemoryFaultError as fault:
        raise BudgetOnHoldError(str(fault)) from None
    if charge and charge.is_void:
        raise BudgetRefusedError(refusals.void_text())
    return charge.outcome if charge else None


def require_complete(dataset: Dataset) -> None:
    """Raises BudgetOnHoldError unless ledger and memory have the same charges, of what binds the dataset, too."""
    try:
        charge_journal.require_complete(*dataset.bound_together)
    except (RestoredError, MemoryFaultError) as fault:
        raise BudgetOnHoldError(str(fault)) from None


@transaction.atomic
def enter_missing(dataset: Dataset, by: User, also: Collection[Dataset] = ()) -> list[LedgerEntry]:
    """Book, as spent, the charges that are remembered and that the ledger lacks; returns the new lines.

    Where an account has too little left, since grants are missing, too, as much is granted as is spent. also: see
    `bind_again`.
    """
    if bound := bind_again(dataset, also):
        names = sorted(clause(gettext_noop("dataset %(id)s"), id=other.pk) for other in bound)
        audit.record(by, "bound after a restore", dataset, clauses(*names))
    return [_enter(dataset, charge, by) for charge in charge_journal.missing(dataset)]


@transaction.atomic
def bind_again(dataset: Dataset, also: Collection[Dataset] = ()) -> Collection[Dataset]:
    """Bind a dataset to those that its missing charges were bound to, and to `also`; returns all these."""
    bound = {*charge_journal.bound_by(dataset, charge_journal.missing(dataset)), *also}
    lock_dataset(dataset, *bound)
    if bound:
        _bind_people(dataset, bound)
        charged.send(Budget, dataset=dataset)
    return bound


def _enter(dataset: Dataset, charge: charge_journal.Charge, by: User) -> LedgerEntry:
    budget = _account_of(dataset, charge)
    lacking, lacking_delta = charge.cost - budget.left, charge.cost_delta - budget.delta_left
    if lacking > 0 or lacking_delta > 0:
        text = _("Covers a charge entered after a restore")
        covers = own_booking(text, max(lacking_delta, Decimal(0)))
        # A line has an amount: where δ alone is lacking, the least there is.
        covered = _append(budget, Kind.GRANT, State.BOOKED, max(lacking, STEP), covers, by)
        _change(_budget_of(covered), **_moved(covered, total=1))
    text = _("%(reason)s (spent %(day)s, entered after a restore)")
    reason = text % {"reason": charge.reason[:200], "day": charge.at[:10]}
    # Where it was not kept whether the number of rows was published, it counts as public where it may be.
    may_be = not budget.protection.hides_total
    is_public = may_be if charge.total_public is None else charge.total_public
    booking = Booking(uuid.UUID(charge.key), reason, is_public, charge.cost_delta)
    entry = _append(budget, Kind.CHARGE, State.SPENT, charge.cost, booking, by)
    _change(_budget_of(entry), **_moved(entry, spent=1))
    charged.send(Budget, dataset=dataset)
    return entry


def _account_of(dataset: Dataset, charge: charge_journal.Charge) -> Budget:
    """The account that a missing charge was paid from, opened if it is missing, too."""
    protection = Protection(charge.neighbours, charge.unit_column, charge.ignore_case)
    fixed = {"is_fixed": True, **asdict(protection)}
    kind = {"definition": charge.definition, "delta_exponent": charge.delta_exponent}
    accounts = Budget.objects.filter(dataset=dataset)
    if not accounts.filter(**fixed).exists():
        # The first charge fixes whom an account is for.
        _change(accounts.filter(is_fixed=False, definition=charge.definition), **fixed)
    budget = _account(dataset, kind, **fixed)
    if budget.definition != charge.definition:
        raise BudgetRefusedError(refusals.other_kind_text(budget))
    return budget


def has_no_table(dataset: Dataset) -> bool:
    """Whether its upload failed or is there already, or its records are deleted: nothing could be spent on it."""
    none = Dataset.State
    return dataset.state in (none.REFUSED, none.DUPLICATE, none.CANCELLED, none.ERASED)


def _settle(entry: LedgerEntry, state: str) -> bool:
    with writing():
        settled = LedgerEntry.objects.all()._settle(entry, state, timezone.now())
    if settled:
        chain.add(SETTLED, SETTLED.rows().get(pk=entry.pk))
    return settled


def _change(budgets: QuerySet[Budget], **changes: object) -> int:
    """How many of the accounts were changed."""
    with writing():
        return budgets.update(**changes)


def _account(dataset: Dataset, kind: Mapping[str, object], **which: object) -> Budget:
    """The dataset's account for this protection, opened with nothing in it if there is none."""
    with writing():
        return Budget.objects.get_or_create(dataset=dataset, **which, defaults=kind)[0]


def _budget_of(entry: LedgerEntry) -> QuerySet[Budget]:
    return Budget.objects.filter(pk=entry.budget_id)


def _budgets_with(amount: Decimal, delta: Decimal) -> QuerySet[Budget]:
    """The accounts that have so much left."""
    return Budget.objects.filter(
        total__gte=F("spent") + F("reserved") + stored(amount),
        delta_total__gte=F("delta_spent") + F("delta_reserved") + stored_delta(delta),
    )


def _moved(entry: LedgerEntry, **parts: int) -> dict[str, object]:
    """How a line changes its account: with what sign its amount, and its δ, go into each of these parts."""
    amounts = {part: F(part) + stored(sign * entry.amount) for part, sign in parts.items()}
    deltas = {
        f"delta_{part}": F(f"delta_{part}") + stored_delta(s * entry.delta) for part, s in parts.items()
    }
    return {**amounts, **deltas}


def _append(
    budget: Budget, kind: str, state: str, amount: Decimal, booking: Booking, by: User
) -> LedgerEntry:
    with writing():
        entry = LedgerEntry.objects.create(
            dataset_id=budget.dataset_id,
            budget=budget,
            kind=kind,
            state=state,
            amount=amount,
            delta=booking.delta,
            reason=booking.reason,
            by=by,
            key=booking.key,
            total_public=booking.total_public,
        )
    chain.add(LINE, entry)
    return entry


def _check_positive(amount: Decimal, delta: Decimal) -> None:
    if not (delta.is_finite() and delta >= 0):
        raise BudgetRefusedError(_("A δ must be a number of at least 0."))
    if not (amount.is_finite() and amount > 0):
        raise BudgetRefusedError(_("An amount of privacy budget must be a number above 0."))
