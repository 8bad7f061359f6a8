"""Why a change of a budget is refused, in words for whoever wanted it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain, with_delta
from dpportal.budgets.models import Budget
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.platform.listed_names import joint
from mechanisms.accounting import Definition
from mechanisms.number_text import small_text


def missing_text(dataset: Dataset) -> str:
    """Why nothing can be paid: there is no budget, or none for whom the domain now protects."""
    others = list(dataset.budgets.all())
    if not others:
        text = _(
            "%(name)s has no privacy budget yet. Ask the administrators for what this costs. The draft is kept."
        )
        return text % {"name": dataset.name}
    text = _(
        "Your declaration now protects %(now)s, but the budget of %(name)s is for %(before)s, and costs for different "
        "people are never added. Declare who is protected as before, or ask an administrator for a budget for this."
    )
    before = joint(";").join(str(b.protection) for b in others)
    return text % {"now": Protection.of(dataset.current_domain()), "name": dataset.name, "before": before}


def refusal_text(dataset: Dataset, cost: Decimal, definition: Definition, delta: Decimal = Decimal(0)) -> str:
    """Why a cost cannot be paid: there is no budget, it is counted in the other unit, or too little is left."""
    budget = Budget.of(dataset)
    if budget is None:
        return missing_text(dataset)
    if budget.definition != definition.value:
        text = _("This budget is counted in %(symbol)s. Choose the cost again, in %(symbol)s.")
        return text % {"symbol": budget.symbol}
    return delta_text(budget, delta) if delta > budget.delta_left else shortage_text(budget, cost)


def delta_text(budget: Budget, delta: Decimal) -> str:
    """What to do about a δ above what is left."""
    values = {"delta": small_text(Fraction(delta)), "left": small_text(Fraction(budget.delta_left))}
    values |= {"name": budget.dataset.name, "symbol": budget.symbol}
    if not budget.delta_total:
        text = _(
            "The budget of %(name)s has no δ: its promise of %(symbol)s may never fail. This needs one, a small chance "
            "of failing. Ask an administrator to grant δ = %(delta)s."
        )
    else:
        text = _(
            "This needs δ = %(delta)s; %(name)s has δ = %(left)s left. Choose a smaller δ, or ask an administrator for "
            "more."
        )
    return text % values


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
                "This costs %(s)s = %(cost)s; %(name)s has %(s)s = %(left)s left. "
                "Ask an administrator for more."
            )
            % values
        )
    return (
        _(
            "This costs %(s)s = %(cost)s; %(name)s has %(s)s = %(left)s left. "
            "Lower %(s)s to at most %(left)s, or ask an administrator for more."
        )
        % values
    )


def unknowing_text() -> str:
    """Why a grant is refused to whoever was not told of other tables with the same people."""
    return _(
        "Other datasets that have a budget hold nearly the same table. Costs for the same people add up, whoever "
        "uploaded them: tick each of them to grant all the same, which is recorded, or grant to that dataset instead."
    )


def no_table_text() -> str:
    """Why a grant to such a dataset is refused."""
    return _(
        "No records of this dataset are stored, so no budget can be spent on it. Choose one that has some."
    )


def being_read_text() -> str:
    """Why a grant to such a dataset waits."""
    return _(
        "The table of this dataset is being read. Grant once that has ended: it may be one that has a budget."
    )


def read_again_text() -> str:
    """Why nothing is spent on a table that no grant was made for."""
    return _(
        "The table was read, or read in another way, after its budget was granted. Ask an administrator to look at it "
        "again: a further grant, however small, confirms the budget for the table as it is now."
    )


def other_kind_text(budget: Budget) -> str:
    """Why a grant of the other kind is refused."""
    text = _("This budget is counted in %(symbol)s. Grant more %(symbol)s; the two kinds cannot be added.")
    return text % {"symbol": budget.symbol}


def other_delta_text(budget: Budget) -> str:
    """Why a grant with another δ is refused."""
    text = _(
        "What this budget has paid for says δ = %(delta)s, also in files that were downloaded. Leave n at %(exponent)s."
    )
    return text % {"delta": budget.delta_text, "exponent": budget.delta_exponent}


def reduction_text(budget: Budget | None) -> str:
    """Why a reduction is refused."""
    if budget is None:
        return _("This dataset has no budget to reduce. Grant one first.")
    text = _(
        "Only %(symbol)s = %(left)s of this budget is neither spent nor reserved. Reduce it by at most that."
    )
    return text % {"symbol": budget.symbol, "left": with_delta(plain(budget.left), budget.delta_left)}


def void_text() -> str:
    """Why a reservation that was given back pays for nothing."""
    return _("This was cancelled, or it failed, and its budget is free again. Make a new draft.")


def released_before_text() -> str:
    """Why a restored draft is not confirmed again."""
    return _(
        "This was released before the portal's database was put back from an older copy, and its charge stays "
        "spent. Make a new draft."
    )
