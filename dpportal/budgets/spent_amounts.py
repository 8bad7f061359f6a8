"""Whether the amounts that accounts say they spent are those of the ledger's lines, each of which is in the chain."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import models

from dpportal.budgets.ledger_lines import LINE, SETTLED
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.history import chain
from dpportal.history.imprints import ForgedRowError
from dpportal.history.models import Link


def require_spent(budgets: Collection[Budget]) -> None:
    """Raise ForgedRowError unless these accounts spent what their charges add up to, as they are in the chain.

    A charge and its account are read by one statement, so that nothing is spent between them.
    """
    charges = list(LINE.rows().filter(budget__in=budgets, kind=LedgerEntry.Kind.CHARGE))
    if changed := _changed(charges):
        raise ForgedRowError(f"line {changed[0].pk}")
    read = {budget.pk: budget for budget in [*budgets, *(charge.budget for charge in charges)]}
    for budget in read.values():
        own = [each for each in charges if each.budget_id == budget.pk and each.is_spent]
        total = (sum(each.amount for each in own), sum(each.delta for each in own))
        if (budget.spent, budget.delta_spent) != total:
            raise ForgedRowError(f"budget {budget.pk}")


def _changed(charges: Sequence[LedgerEntry]) -> list[models.Model]:
    """Those that are not what the chain says; one that was settled has a link that says so."""
    settled = [charge for charge in charges if charge.settled_at is not None]
    unsettled = [charge.pk for charge in charges if charge.settled_at is None]
    again = Link.objects.filter(event=SETTLED.event, line__in=unsettled).values_list("line", flat=True)
    return [
        *chain.changed(LINE, charges),
        *chain.changed(SETTLED, settled),
        *(charge for charge in charges if charge.pk in set(again)),
    ]
