"""The dial between privacy and accuracy, as a page asks for one position of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import partial

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import STEP, amount_formfield, plain
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import Budget
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.platform.typed_numbers import decimal_text
from dpportal.publications import cost_search
from dpportal.publications.verdict import Verdict, VerdictLevel
from mechanisms.accounting import SYMBOL, Definition

# What a dial begins with where nothing is left.
UNSPENDABLE = Decimal("0.1")
# The highest cost that is proposed to be asked for: in ρ about ε 3 at δ = 10⁻⁶.
DEAREST = {Definition.PURE: Decimal(3), Definition.ZCDP: Decimal("0.15")}
# A lower cost that would do as well is named if it is at most this share of the chosen one.
CLEARLY_LESS = Decimal("0.9")


@dataclass(frozen=True)
class DialError:
    """An error that a cost buys, None where nothing can be said of it, and the cost at which it is as wanted.

    amount_of: None if no cost is.
    """

    error_of: Callable[[Decimal], float | None]
    amount_of: Callable[[float], Decimal | None]


def position(
    query: Mapping[str, str],
    *,
    errors: Mapping[str, DialError],
    meaning_of: Callable[[Decimal], str],
    worth_of: Callable[[Decimal], str],
) -> Json:
    """The cost, what it means and is worth, and the errors that it buys, None where nothing can be said of them.

    query: "epsilon" (the cost, in ε or ρ) or a wanted error by its name in `errors`. Raises ValidationError.
    """
    amount = _requested_cost(query, errors)
    return {
        "amount": plain(amount),
        "meaning": meaning_of(amount),
        "worth": worth_of(amount),
        **{name: cost_search.shown(error.error_of(amount)) for name, error in errors.items()},
    }


def counted_otherwise(posted: Mapping[str, str], budget: Budget) -> str:
    """Why a cost that was chosen on a page counts no more: a budget that came since is in the other unit; else empty.

    posted: with what the page's budget was counted in, as its hidden field says.
    """
    if posted.get("counted_in", budget.definition) == budget.definition:
        return ""
    text = _("The budget is counted in %(symbol)s by now. Read the costs again, and choose one.")
    return text % {"symbol": budget.symbol}


def initial_cost(
    draft: ChargedPublication, budget: Budget, linked: Decimal | None, usual: Callable[[], Decimal]
) -> tuple[Decimal, dict[str, str]]:
    """The cost with which a page begins, and its fields: the linked one, that which somebody chose, or the usual one.

    What was only proposed is proposed again, see `usual`. Whether the portal proposes it is a field, too:
    `is_as_proposed` reads it.
    """
    chosen = linked or (None if draft.is_amount_proposed else draft.amount_of(budget))
    amount = chosen or usual()
    return amount, {"amount": plain(amount), "proposed": "" if chosen else plain(amount)}


def updated_proposal(posted: Mapping[str, str], usual: Callable[[], Decimal]) -> Decimal | None:
    """Another cost to propose on a page whose cost nobody chose; None where it stays.

    A method that was worked out since may need less.
    """
    proposed = posted.get("proposed")
    if not proposed or proposed != posted.get("amount"):
        return None
    amount = usual()
    return None if plain(amount) == proposed else amount


def with_cost(posted: QueryDict, amount: Decimal) -> QueryDict:
    """What was posted, with another proposed cost."""
    changed = posted.copy()
    changed["amount"] = changed["proposed"] = plain(amount)
    return changed


def announce(response: HttpResponse, amount: Decimal | None) -> None:
    """Have the page's dial take the other proposed cost, if there is one; see dial.js."""
    if amount is not None:
        response["HX-Trigger"] = json.dumps({"cost:proposed": {"amount": plain(amount)}})


def is_as_proposed(form: forms.Form) -> bool:
    """Whether a valid form's cost is still the one that its page proposed, which nobody chose."""
    proposed: str = form.cleaned_data["proposed"]
    return proposed == plain(form.cleaned_data["amount"])


def _requested_cost(query: Mapping[str, str], errors: Mapping[str, DialError]) -> Decimal:
    """The cost that is asked for, by itself or by an error, which two digits reach nearly."""
    for name, error in errors.items():
        if name in query:
            cost = error.amount_of(_half_width_field().clean(decimal_text(query[name])))
            if cost is None:
                raise ValidationError(_("No cost gives so small an error; allow more."))
            return cost_search.two_digits(cost)
    amount: Decimal = amount_formfield().clean(decimal_text(query.get("epsilon", "")))
    return amount


def most_proposed(budget: Budget) -> Decimal:
    """A tenth of what is left, in hundredths where that is any; without a budget ε 1, to be asked for."""
    left = budget.left if budget.is_granted else cost_search.WITHOUT_BUDGET
    hundredths = (left / 10).quantize(Decimal("0.01"), ROUND_FLOOR)
    return hundredths or (left / 10).quantize(STEP, ROUND_FLOOR) or UNSPENDABLE


def saved_proposal(draft: ChargedPublication, budget: Budget) -> Decimal | None:
    """The cost that a draft has and nobody chose; None where it has none, or somebody chose it."""
    return draft.amount_of(budget) if draft.is_amount_proposed else None


def usual(
    draft: ChargedPublication, budget: Budget, is_at_least: Callable[[VerdictLevel, Decimal], bool]
) -> Decimal:
    """The cost that every wizard begins with: the least that is expected to be useful, within a tenth of what is left.

    Where nothing within that is known to be useful it is all of that. Without a budget the cost is to be asked for:
    then it is the least that is coarse, as long as it is not dear; a tenth of ε 1 where that is not enough either.
    What a draft has stays, whatever is left: a review has shown it. Only a clearly lower cost that would do as well
    replaces it, and nothing does once the administrators were asked for it.
    """
    is_useful = partial(is_at_least, VerdictLevel.USEFUL)
    if saved := saved_proposal(draft, budget):
        least = None if _is_requested(draft, saved) else cost_search.least_useful(saved, is_useful)
        return least if least and least <= CLEARLY_LESS * saved else saved
    most = most_proposed(budget)
    useful = cost_search.least_useful(most, is_useful)
    if budget.is_granted or useful:
        return useful or most
    dearest, is_coarse = DEAREST[Definition(budget.definition)], partial(is_at_least, VerdictLevel.COARSE)
    return cost_search.least_useful(dearest, is_coarse) or most / 10


def _is_requested(draft: ChargedPublication, amount: Decimal) -> bool:
    """Whether the administrators were asked for just that, for this draft."""
    requests = draft.dataset.budget_requests.filter(amount=amount, address__contains=str(draft.pk))
    return bool(requests.exists())


def worth(verdict: Verdict | None, amount: Decimal, definition: Definition, least: Decimal | None) -> str:
    """± 10 is 8 % of a typical cell; ε 0.29 would do instead of 2.00.

    least: the cost from which on it is expected to be useful, if it is at this one. Empty where nothing can be said.
    """
    if verdict is None:
        return ""
    share = verdict.typical.share if verdict.typical else ""
    better = verdict.amount(amount, definition)
    values = {
        "symbol": SYMBOL[definition],
        "least": plain(least or better or amount),
        "amount": plain(amount),
    }
    if least and least <= CLEARLY_LESS * amount:
        other = _("%(symbol)s %(least)s would do instead of %(amount)s") % values
    else:
        other = _("it takes %(symbol)s %(least)s to be useful") % values if better else ""
    text = joint(";").join(filter(None, (share, other)))
    # A symbol at the beginning stays as it is: Ε is another letter.
    beginning = text[:1].upper() if text[:1].isascii() else text[:1]
    return f"{beginning}{text[1:]}{joint('.').strip()}" if text else ""


def _half_width_field() -> forms.FloatField:
    """The field of the wanted error."""
    wrong = _("Write the wanted error as a plain number, such as 20.")
    return forms.FloatField(
        min_value=0,
        max_value=1e12,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), wrong),
    )
