"""The dial between privacy and accuracy, as a page asks for one position of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import amount_formfield, plain
from dpportal.platform.json_types import Json
from dpportal.publications import cost_search


def position(
    query: Mapping[str, str],
    *,
    amount_of: Callable[[float], Decimal | None] | None,
    error_of: Callable[[Decimal], float | None],
    meaning_of: Callable[[Decimal], str],
) -> Json:
    """The cost, what it means, and the error that it buys, None where nothing can be said of it.

    query: "epsilon" (the cost, in ε or ρ) or "half_width" (the wanted error). amount_of: the cost at which the error
    is as wanted, None if there is none; None itself where no error can be wanted. Raises ValidationError.
    """
    if amount_of and "half_width" in query:
        amount = amount_of(_half_width_field().clean(query["half_width"]))
        if amount is None:
            raise ValidationError(_("No cost gives so small an error; allow more."))
    else:
        amount = amount_formfield().clean(query.get("epsilon"))
    return {
        "amount": plain(amount),
        "meaning": meaning_of(amount),
        "half_width": cost_search.shown(error_of(amount)),
    }


def _half_width_field() -> forms.FloatField:
    """The field of the wanted error."""
    wrong = _("Write the wanted error as a plain number, such as 20.")
    return forms.FloatField(
        min_value=0,
        max_value=1e12,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), wrong),
    )
