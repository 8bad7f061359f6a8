"""Why a change of a budget is refused, in words for whoever wanted it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import Budget


def unknowing_text() -> str:
    """Why a grant is refused to whoever was not told of other tables with the same people."""
    return _(
        "Other datasets that have a budget hold nearly the same table. Losses for the same people add up, whoever "
        "uploaded them: tick each of them to grant all the same, which is recorded, or grant to that dataset instead."
    )


def no_table_text() -> str:
    """Why a grant to such a dataset is refused."""
    return _(
        "No records of this dataset are stored, so no budget can be spent on it. Choose one that has some."
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
    return text % {"symbol": budget.symbol, "left": plain(budget.left)}


def void_text() -> str:
    """Why a reservation that was given back pays for nothing."""
    return _("This was cancelled, or it failed, and its budget is free again. Make a new draft.")


def released_before_text() -> str:
    """Why a restored draft is not confirmed again."""
    return _(
        "This was released before the portal's database was put back from an older copy, and its charge stays "
        "spent. Make a new draft."
    )
