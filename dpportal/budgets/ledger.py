"""The only writer of budgets and of the ledger.

Every change is one conditional UPDATE of the budget row, whose row count decides, and one new ledger line, in one
transaction; a CHECK constraint stands behind it. So concurrent reservations never grant more than there is.
"""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.budgets.amounts import plain, stored
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets.models import Dataset

Kind, State = LedgerEntry.Kind, LedgerEntry.State


class BudgetRefusedError(Exception):
    """A change of the budget that is not possible; the message says why and what to do."""


@transaction.atomic
def grant(
    dataset: Dataset, amount: Decimal, *, definition: str, reason: str, by: User, delta_exponent: int = 6
) -> LedgerEntry:
    """Add to a dataset's budget; the first grant fixes whether it is counted in ε or ρ."""
    _check_positive(amount)
    kind = {"definition": definition, "delta_exponent": delta_exponent}
    budget, _created = Budget.objects.get_or_create(dataset=dataset, defaults=kind)
    if budget.definition != definition:
        raise BudgetRefusedError(other_kind_text(budget))
    Budget.objects.filter(pk=budget.pk).update(
        total=F("total") + stored(amount), delta_exponent=delta_exponent
    )
    return _append(dataset, Kind.GRANT, State.BOOKED, amount, reason, by)


@transaction.atomic
def reduce(dataset: Dataset, amount: Decimal, *, reason: str, by: User) -> LedgerEntry:
    """Take back a part of the budget that is neither spent nor reserved."""
    _check_positive(amount)
    free = Budget.objects.filter(dataset=dataset, total__gte=F("spent") + F("reserved") + stored(amount))
    if not free.update(total=F("total") - stored(amount)):
        raise BudgetRefusedError(reduction_text(_read(dataset)))
    return _append(dataset, Kind.REDUCTION, State.BOOKED, amount, reason, by)


@transaction.atomic
def reserve(dataset: Dataset, amount: Decimal, *, key: uuid.UUID, reason: str, by: User) -> LedgerEntry:
    """Set an amount aside for the job called `key`; refused if not that much is left."""
    _check_positive(amount)
    enough = Budget.objects.filter(dataset=dataset, total__gte=F("spent") + F("reserved") + stored(amount))
    if not enough.update(reserved=F("reserved") + stored(amount)):
        raise BudgetRefusedError(_overspend_text(dataset, amount))
    return _append(dataset, Kind.CHARGE, State.RESERVED, amount, reason, by, key=key)


@transaction.atomic
def spend(entry: LedgerEntry) -> None:
    """Turn a reservation into a spent charge, once; a second call changes nothing."""
    if _settle(entry, State.SPENT):
        _budget_of(entry).update(
            reserved=F("reserved") - stored(entry.amount), spent=F("spent") + stored(entry.amount)
        )


@transaction.atomic
def void(entry: LedgerEntry) -> None:
    """Release a reservation, once; a spent charge stays spent."""
    if _settle(entry, State.VOID):
        _budget_of(entry).update(reserved=F("reserved") - stored(entry.amount))


def remaining(dataset: Dataset) -> Decimal:
    """What can still be reserved; zero for a dataset without a budget."""
    budget = _read(dataset)
    return budget.left if budget else Decimal(0)


def other_kind_text(budget: Budget) -> str:
    """Why a grant of the other kind is refused."""
    text = _("This budget is counted in %(symbol)s. Grant more %(symbol)s; the two kinds cannot be added.")
    return text % {"symbol": budget.symbol}


def reduction_text(budget: Budget | None) -> str:
    """Why a reduction is refused."""
    if budget is None:
        return _("This dataset has no budget to reduce. Grant one first.")
    text = _(
        "Only %(symbol)s = %(left)s of this budget is neither spent nor reserved. Reduce it by at most that."
    )
    return text % {"symbol": budget.symbol, "left": plain(budget.left)}


def _settle(entry: LedgerEntry, state: str) -> bool:
    return LedgerEntry.objects.all()._settle(entry, state, timezone.now())


def _budget_of(entry: LedgerEntry) -> QuerySet[Budget]:
    return Budget.objects.filter(dataset_id=entry.dataset_id)


def _append(
    dataset: Dataset,
    kind: str,
    state: str,
    amount: Decimal,
    reason: str,
    by: User,
    key: uuid.UUID | None = None,
) -> LedgerEntry:
    return LedgerEntry.objects.create(
        dataset=dataset, kind=kind, state=state, amount=amount, reason=reason, by=by, key=key or uuid.uuid4()
    )


def _check_positive(amount: Decimal) -> None:
    if not (amount.is_finite() and amount > 0):
        raise BudgetRefusedError(_("An amount of privacy budget must be a number above 0."))


def _read(dataset: Dataset) -> Budget | None:
    return Budget.objects.filter(dataset=dataset).first()


def _overspend_text(dataset: Dataset, cost: Decimal) -> str:
    budget = _read(dataset)
    if budget is None:
        return _("%(name)s has no privacy budget yet. Ask an administrator to grant one.") % {
            "name": dataset.name
        }
    values = {"s": budget.symbol, "cost": plain(cost), "left": plain(budget.left), "name": dataset.name}
    if not budget.left:
        return (
            _(
                "This release costs %(s)s = %(cost)s; %(name)s has %(s)s = %(left)s left. "
                "Ask an administrator for more."
            )
            % values
        )
    return (
        _(
            "This release costs %(s)s = %(cost)s; %(name)s has %(s)s = %(left)s left. "
            "Lower %(s)s to at most %(left)s, or ask an administrator for more."
        )
        % values
    )
