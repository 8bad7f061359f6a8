"""The only writer of budgets and of the ledger.

Every change is one conditional UPDATE of the budget row, whose row count decides, and one new ledger line, in one
transaction; a CHECK constraint stands behind it. So concurrent reservations never grant more than there is.
"""

from __future__ import annotations

import uuid
from dataclasses import asdict
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.budgets.amounts import plain, stored
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.datasets.services import hold
from mechanisms.accounting import Definition

Kind, State = LedgerEntry.Kind, LedgerEntry.State


class BudgetRefusedError(Exception):
    """A change of the budget that is not possible; the message says why and what to do."""


@transaction.atomic
def grant(
    dataset: Dataset, amount: Decimal, *, definition: str, reason: str, by: User, delta_exponent: int = 6
) -> LedgerEntry:
    """Add to the account of the protection that is declared now; its first grant fixes whether it counts ε or ρ."""
    _check_positive(amount)
    # Two first grants at once open one account, not one each.
    hold(dataset)
    if has_no_table(dataset):
        raise BudgetRefusedError(no_table_text())
    budget = Budget.of(dataset) or _opened(dataset, definition, delta_exponent)
    if budget.definition != definition:
        raise BudgetRefusedError(other_kind_text(budget))
    Budget.objects.filter(pk=budget.pk).update(
        total=F("total") + stored(amount), delta_exponent=delta_exponent
    )
    return _append(budget, Kind.GRANT, State.BOOKED, amount, reason, by)


def _opened(dataset: Dataset, definition: str, delta_exponent: int) -> Budget:
    """A new account; beside others it is for the protection that is declared now."""
    kind = {"definition": definition, "delta_exponent": delta_exponent}
    if not dataset.budgets.exists():
        return Budget.objects.get_or_create(dataset=dataset, is_fixed=False, defaults=kind)[0]
    fixed = {"is_fixed": True, **asdict(Protection.of(dataset.current_domain()))}
    return Budget.objects.get_or_create(dataset=dataset, **fixed, defaults=kind)[0]


@transaction.atomic
def reduce(budget: Budget | None, amount: Decimal, *, reason: str, by: User) -> LedgerEntry:
    """Take back a part of an account that is neither spent nor reserved."""
    _check_positive(amount)
    if budget is None or not _with(amount).filter(pk=budget.pk).update(total=F("total") - stored(amount)):
        raise BudgetRefusedError(reduction_text(budget and Budget.objects.get(pk=budget.pk)))
    return _append(budget, Kind.REDUCTION, State.BOOKED, amount, reason, by)


@transaction.atomic
def reserve(
    dataset: Dataset, amount: Decimal, *, definition: Definition, key: uuid.UUID, reason: str, by: User
) -> LedgerEntry:
    """Set an amount aside for the job called `key`, from the account of the protection that is declared now.

    definition: whether the amount is of ε or ρ. The caller holds the dataset's domain still. The first reservation
    fixes the protection of its account. Refused if not that much is left, if it counts the other of ε and ρ, or if all
    accounts are for other protections: their losses would not add up.
    """
    _check_positive(amount)
    fixed = {"is_fixed": True, **asdict(Protection.of(dataset.current_domain()))}
    enough = _with(amount).filter(dataset=dataset, definition=definition.value)
    change = {"reserved": F("reserved") + stored(amount)}
    # Asked again at the end: two first reservations at once fix the account once, and both are paid from it.
    done = (
        enough.filter(**fixed).update(**change)
        or enough.filter(is_fixed=False).update(**change, **fixed)
        or enough.filter(**fixed).update(**change)
    )
    if not done:
        raise BudgetRefusedError(_refusal_text(dataset, amount, definition))
    return _append(
        Budget.objects.get(dataset=dataset, **fixed), Kind.CHARGE, State.RESERVED, amount, reason, by, key=key
    )


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
    """What can still be reserved for the protection declared now; zero without a budget for it."""
    budget = Budget.of(dataset)
    return budget.left if budget else Decimal(0)


def has_no_table(dataset: Dataset) -> bool:
    """Whether its upload failed, or was one that is there already: nothing could be spent on it."""
    return dataset.state in (Dataset.State.REFUSED, Dataset.State.DUPLICATE)


def no_table_text() -> str:
    """Why a grant to such a dataset is refused."""
    return _(
        "This upload was not loaded, so no budget can be spent on it. Choose a dataset that is stored, or have the "
        "curator upload the file again first."
    )


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
    return Budget.objects.filter(pk=entry.budget_id)


def _with(amount: Decimal) -> QuerySet[Budget]:
    """The accounts that have so much left."""
    return Budget.objects.filter(total__gte=F("spent") + F("reserved") + stored(amount))


def _append(
    budget: Budget,
    kind: str,
    state: str,
    amount: Decimal,
    reason: str,
    by: User,
    key: uuid.UUID | None = None,
) -> LedgerEntry:
    return LedgerEntry.objects.create(
        dataset_id=budget.dataset_id,
        budget=budget,
        kind=kind,
        state=state,
        amount=amount,
        reason=reason,
        by=by,
        key=key or uuid.uuid4(),
    )


def _check_positive(amount: Decimal) -> None:
    if not (amount.is_finite() and amount > 0):
        raise BudgetRefusedError(_("An amount of privacy budget must be a number above 0."))


def missing_text(dataset: Dataset) -> str:
    """Why nothing can be paid: there is no budget, or none for whom the domain now protects."""
    others = list(dataset.budgets.all())
    if not others:
        text = _(
            "%(name)s has no privacy budget yet. Ask an administrator to grant one, then continue here; the draft is "
            "kept."
        )
        return text % {"name": dataset.name}
    text = _(
        "The domain now protects %(now)s, but the budget of %(name)s is for %(before)s, and losses for different "
        "people are never added. Declare who is protected as before, or ask an administrator for a budget for this."
    )
    before = "; ".join(str(b.protection) for b in others)
    return text % {"now": Protection.of(dataset.current_domain()), "name": dataset.name, "before": before}


def _refusal_text(dataset: Dataset, cost: Decimal, definition: Definition) -> str:
    budget = Budget.of(dataset)
    if budget is None:
        return missing_text(dataset)
    if budget.definition != definition.value:
        text = _("This budget is counted in %(symbol)s. Choose the cost again, in %(symbol)s.")
        return text % {"symbol": budget.symbol}
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
