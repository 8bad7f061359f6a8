"""Whether the amounts of accounts are those of the ledger's lines, each of which is in the chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal

from django.db import models

from dpportal.budgets.ledger_lines import LINE, SETTLED
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.history import chain
from dpportal.history.imprints import ForgedRowError
from dpportal.history.models import Link

# Lines that say what may be spent.
GIVEN = (LedgerEntry.Kind.GRANT, LedgerEntry.Kind.REDUCTION)


def require_amounts(budgets: Collection[Budget]) -> None:
    """Raise ForgedRowError unless these accounts have what their lines add up to, and never less than they spend.

    Lines and their account are read by one statement, so that nothing is spent between them.
    """
    lines = list(LINE.rows().filter(budget__in=budgets))
    if changed := changed_lines(lines):
        raise ForgedRowError(f"line {changed[0].pk}")
    of_account: defaultdict[int, list[LedgerEntry]] = defaultdict(list)
    for line in lines:
        of_account[line.budget_id].append(line)
    for budget in budgets:
        own = of_account[budget.pk]
        _require_sums(own[0].budget if own else budget, own)


def require_granted(budget: Budget, refused: type[Exception]) -> None:
    """Raise `refused` unless the same holds of what was granted, whose lines are few: whoever spends waits for it."""
    lines = [*LINE.rows().filter(budget=budget, kind__in=GIVEN)]
    if chain.changed(LINE, lines) or (budget.total, budget.delta_total) != _given(lines):
        raise refused(str(ForgedRowError(f"budget {budget.pk}")))


def _require_sums(budget: Budget, lines: Sequence[LedgerEntry]) -> None:
    charges = [line for line in lines if line.is_charge]
    spent = _sum([line for line in charges if line.is_spent])
    reserved = _sum([line for line in charges if line.is_reserved])
    given = _given(lines)
    stored = (
        (budget.total, budget.delta_total),
        (budget.spent, budget.delta_spent),
        (budget.reserved, budget.delta_reserved),
    )
    is_covered = all(have >= taken + held for have, taken, held in zip(given, spent, reserved, strict=True))
    if stored != (given, spent, reserved) or not is_covered:
        raise ForgedRowError(f"budget {budget.pk}")


def _given(lines: Sequence[LedgerEntry]) -> tuple[Decimal, Decimal]:
    grants = _sum([line for line in lines if line.is_grant])
    reductions = _sum([line for line in lines if line.kind == LedgerEntry.Kind.REDUCTION])
    return grants[0] - reductions[0], grants[1] - reductions[1]


def _sum(lines: Sequence[LedgerEntry]) -> tuple[Decimal, Decimal]:
    """Of ε or ρ, and of δ."""
    return sum((line.amount for line in lines), Decimal(0)), sum((line.delta for line in lines), Decimal(0))


def changed_lines(charges: Sequence[LedgerEntry]) -> list[models.Model]:
    """Those that are not what the chain says; one that was settled has a link that says so."""
    settled = [charge for charge in charges if charge.settled_at is not None]
    unsettled = [charge.pk for charge in charges if charge.settled_at is None]
    again = Link.objects.filter(event=SETTLED.event, line__in=unsettled).values_list("line", flat=True)
    return [
        *chain.changed(LINE, charges),
        *chain.changed(SETTLED, settled),
        *(charge for charge in charges if charge.pk in set(again)),
    ]
