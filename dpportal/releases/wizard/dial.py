"""The dial between privacy and accuracy: the error that a cost buys, and the cost that a wanted error takes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dpportal.budgets import cost_dial
from dpportal.budgets.cost_dial import DialError
from dpportal.platform.json_types import Json
from dpportal.publications import cost_search
from dpportal.publications.verdict import VerdictLevel
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, ReleasePlan, planner_of


def turned(draft: Release, position: dict[str, str]) -> Json:
    """One position of the dial: the cost, what it means, and the error that it buys.

    position: "epsilon" (the cost, in ε or ρ) or "half_width" or "further_half_width" (an error, in the product's unit),
    and "mechanism".
    Raises ValidationError, DraftError or PlanError with a sentence for the curator.
    """
    planner, mechanism = planner_of(draft), position.get("mechanism", "")
    plan_at = cache(partial(_plan, draft, mechanism))

    def further(amount: Decimal) -> float | None:
        return planner.further_error_of(plan_at(amount), draft)

    return cost_dial.position(
        position,
        errors={
            "half_width": DialError(
                lambda amount: planner.error_of(plan_at(amount), draft),
                partial(_amount_for, draft, mechanism),
            ),
            "further_half_width": DialError(further, partial(_amount_by, draft, further)),
        },
        meaning_of=partial(drafts.meaning_of, draft),
        worth_of=lambda amount: worth_of(draft, plan_at(amount), amount),
    )


def usual_amount(draft: Release) -> Decimal:
    """The cost that a draft begins with, by the method that is best at the one it has, or at a tenth of what is left.

    All of that tenth where no error can be said of all that is released.
    """
    budget = drafts.budget_of(draft)
    amount = cost_dial.saved_proposal(draft, budget) or cost_dial.most_proposed(budget)
    if planner_of(draft).error_label(draft).is_of_part:
        return amount
    try:
        mechanism = _plan(draft, draft.mechanism, amount).mechanism
    except ValidationError:
        mechanism = ""
    return cost_dial.usual(draft, budget, partial(_is_at_least, draft, mechanism))


def worth_of(draft: Release, plan: ReleasePlan, amount: Decimal) -> str:
    """How large the margin is beside a typical answer, and which cost would do; empty where nothing can be said.

    plan: at that amount.
    """
    verdict = planner_of(draft).verdict(plan, draft)
    return cost_dial.worth(verdict, amount, plan.loss.definition, _least_useful(draft, plan, amount))


def cheaper_amount(draft: Release, plan: ReleasePlan) -> Decimal | None:
    """A clearly lower cost that would do, where nobody chose the draft's; else None.

    Such there is once a method was worked out that needs less than those did at which the cost was proposed.
    """
    if not draft.is_amount_proposed or draft.amount is None:
        return None
    least = _least_useful(draft, plan, draft.amount)
    return least if least and least <= cost_dial.CLEARLY_LESS * draft.amount else None


def _least_useful(draft: Release, plan: ReleasePlan, amount: Decimal) -> Decimal | None:
    """The cost from which on the plan's method is expected to be useful, if it is at this one."""
    if planner_of(draft).error_label(draft).is_of_part:
        return None
    return cost_search.least_useful(amount, partial(_is_at_least, draft, plan.mechanism, VerdictLevel.USEFUL))


def _is_at_least(draft: Release, mechanism: str, level: VerdictLevel, amount: Decimal) -> bool:
    try:
        verdict = planner_of(draft).verdict(_plan(draft, mechanism, amount), draft)
    except ValidationError:
        return False
    return verdict is not None and verdict.is_at_least(level)


def _plan(draft: Release, mechanism: str, amount: Decimal) -> ReleasePlan:
    """Of the method that is checked; of the one that is suggested if none is."""
    offers = drafts.offers(draft, amount, only=mechanism)
    plans = {offer.mechanism.name: offer.plan for offer in offers if offer.plan}
    if mechanism in plans:
        return plans[mechanism]
    refused = [offer for offer in offers if offer.mechanism.name == mechanism]
    if refused or not plans:
        raise ValidationError((refused or offers)[0].refusal)
    return plans[planner_of(draft).best_method(draft, plans)]


def _amount_for(draft: Release, mechanism: str, target: float) -> Decimal | None:
    planner, loss = planner_of(draft), drafts.loss_at(draft, Decimal(1))
    amount = planner.least_amount(mechanism, loss, target)
    if amount is not None:
        return amount
    return _amount_by(draft, lambda cost: planner.error_of(_plan(draft, mechanism, cost), draft), target)


def _amount_by(draft: Release, error_of: Callable[[Decimal], float | None], target: float) -> Decimal | None:
    """The cost with that error, by trying."""

    def known(amount: Decimal) -> float:
        error = error_of(amount)
        if error is None:
            raise DraftError(_("Its error depends on the data, so no cost can be said for it."), "method")
        return error

    return cost_search.amount_for(target, drafts.loss_at(draft, Decimal(1)).definition, known)
