"""The dial between privacy and accuracy: the error that a cost buys, and the cost that a wanted error takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import amount_formfield, plain
from dpportal.publishing import dial
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, ReleasePlan, product_of


def turned(draft: Release, asked: dict[str, str]) -> dict[str, Any]:
    """One position of the dial: the cost, what it means, and the error that it buys.

    asked: "epsilon" (the cost, in ε or ρ) or "half_width" (the wanted error, in the product's unit), and "mechanism".
    Raises ValidationError, DraftError or PlanError with a sentence for the curator.
    """
    product, mechanism = product_of(draft), asked.get("mechanism", "")
    if "half_width" in asked and product.wanted:
        amount = _amount_for(draft, mechanism, dial.wanted_field().clean(asked["half_width"]))
    else:
        amount = amount_formfield().clean(asked.get("epsilon"))
    said = {"amount": plain(amount), "meaning": drafts.meaning_of(draft, amount)}
    if not product.wanted:
        return {**said, "half_width": None}
    return {**said, "half_width": dial.shown(product.wanted_error(_plan(draft, mechanism, amount), draft))}


def _plan(draft: Release, mechanism: str, amount: Decimal) -> ReleasePlan:
    """Of the method that is checked; of the one that is suggested if none is."""
    made = drafts.offers(draft, amount, only=mechanism)
    plans = {offer.mechanism.name: offer.plan for offer in made if offer.plan}
    if mechanism in plans:
        return plans[mechanism]
    refused = [offer for offer in made if offer.mechanism.name == mechanism]
    if refused or not plans:
        raise ValidationError((refused or made)[0].refusal)
    return plans[product_of(draft).suggested(draft, plans)]


def _amount_for(draft: Release, mechanism: str, wanted: float) -> Decimal:
    product, loss = product_of(draft), drafts.loss_at(draft, Decimal(1))

    def error_of(amount: Decimal) -> float:
        error = product.wanted_error(_plan(draft, mechanism, amount), draft)
        if error is None:
            raise DraftError(_("Its error depends on the data, so no cost can be said for it."), "method")
        return error

    amount = product.amount_for(mechanism, loss, wanted)
    if amount is None:
        amount = dial.amount_for(wanted, loss.definition, error_of)
    if amount is None:
        raise ValidationError(dial.unreachable())
    return amount
