"""Why nothing can be paid from a dataset's budget, and what to do about it."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import Budget
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from mechanisms.accounting import Definition


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


def refusal_text(dataset: Dataset, cost: Decimal, definition: Definition) -> str:
    budget = Budget.of(dataset)
    if budget is None:
        return missing_text(dataset)
    if budget.definition != definition.value:
        text = _("This budget is counted in %(symbol)s. Choose the cost again, in %(symbol)s.")
        return text % {"symbol": budget.symbol}
    return shortage_text(budget, cost)


def shortage_text(budget: Budget, cost: Decimal) -> str:
    """What to do about a cost above what is left."""
    values = {
        "s": budget.symbol,
        "cost": plain(cost),
        "left": plain(budget.left),
        "name": budget.dataset.name,
    }
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
