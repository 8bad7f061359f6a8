"""What the wizard shows for choices not yet saved: cells of chosen columns, methods at a cost, the dial."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from django.core.exceptions import ValidationError
from django.http import QueryDict

from dpportal.budgets import cost_dial
from dpportal.budgets.amounts import amount_formfield
from dpportal.budgets.cost_dial import initial_cost
from dpportal.budgets.models import Budget
from dpportal.jobs.memoised import StoredQuestion
from dpportal.platform.json_types import Json
from dpportal.publications import cost
from dpportal.publications.cost_search import ends
from dpportal.publications.search_progress import is_method_as_proposed
from dpportal.publications.verdict import rounded
from dpportal.releases import drafts, titles
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, DraftError, ReleasePlan, planner_of
from dpportal.releases.products.histogram.form import MAX_CELLS, MAX_COLUMNS, WARN_CELLS
from dpportal.releases.products.microdata import simulations
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.average_group import average_people, declared_cells
from dpportal.releases.products.shared.differing_rows import of_periods
from dpportal.releases.wizard.dial import usual_amount, worth_of
from dpportal.releases.wizard.forms import PARAMETER, PURPOSE, MethodForm, own_parameters
from dpportal.releases.wizard.side_by_side import SideBySide
from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.validation import WITHIN_BINS


def declared_columns(draft: Release) -> Domain:
    """Every column that could be released now."""
    version = draft.dataset.current_domain()
    return version.domain() if version else Domain(())


def cells(declared: Domain, chosen: list[str], people: int | None) -> Json:
    """How many cells the chosen columns make, and how many people to expect in one of declared values.

    spread_over: those of declared values, where there are others. of_periods: names of columns that say when.
    """
    names = [name for name in declared.names if name in chosen]
    chosen_domain = declared.project(names)
    size, spread = chosen_domain.size if names else 0, declared_cells(chosen_domain)
    own = {attribute.name: attribute.title for attribute in chosen_domain.attributes if attribute.title}
    return {
        "chosen": list({**titles.read_aloud(names), **own}.values()),
        "cells": size,
        "spread_over": spread if spread < size else None,
        "per_cell": rounded(average_people(people, chosen_domain)) if people and size else "",
        "many": WARN_CELLS < size <= MAX_CELLS,
        "too_many": size > MAX_CELLS,
        "too_many_columns": len(names) > MAX_COLUMNS,
        "of_periods": of_periods(declared, names),
    }


def method_initial(draft: Release, budget: Budget, proposed: str = "") -> Json:
    """What was chosen before, or the usual cost. proposed: a cost that the address proposes, if it is one."""
    _amount, cost = initial_cost(draft, budget, _proposed(proposed), partial(usual_amount, draft))
    chosen = {f"{PARAMETER}{name}": value for name, value in draft.parameters.items()}
    usual = AUTOMATIC if planner_of(draft).has_automatic else None
    return {
        "mechanism": draft.mechanism or usual,
        **cost,
        "purpose": draft.purpose,
        **chosen,
    }


def updated_proposal(draft: Release, posted: QueryDict) -> Decimal | None:
    """Another usual cost than the one that the page proposed, by the methods that there are now; None where it stays.

    Whoever picked a cost or a method keeps the cost. posted: what the page holds; nothing is saved.
    """
    if not is_method_as_proposed(posted) and posted.get("mechanism") != AUTOMATIC:
        return None
    purpose = posted.get("purpose")
    if purpose in Release.Purpose.values:
        draft.purpose = purpose
    return cost_dial.updated_proposal(posted, partial(usual_amount, draft))


def take_recommended(draft: Release) -> bool:
    """Choose the method to begin with, at the usual cost if nobody chose another.

    Options that all methods have stay as they usually are.

    False where the method has options of its own, which are to be read first. Nothing is saved. Raises DraftError.
    """
    draft.forget_proposal()
    budget, planner = drafts.budget_of(draft), planner_of(draft)
    chosen = draft.amount_of(budget)
    amount = chosen or usual_amount(draft)
    offers = {offer.mechanism.name: offer for offer in drafts.offers(draft, amount)}
    plans = {name: offer.plan for name, offer in offers.items() if offer.plan}
    if not plans:
        return False
    method = offers[planner.best_method(draft, plans)].mechanism
    options = {p for p in own_parameters(method) if p.name != PURPOSE}
    if any(options - set(own_parameters(other)) for other in planner.methods):
        return False
    usual = {p.name: draft.purpose if p.name == PURPOSE else p.default for p in own_parameters(method)}
    draft.mechanism, draft.is_method_proposed = method.name, True
    draft.price(amount, budget, is_proposed=chosen is None)
    draft.parameters = {**draft.parameters, **usual}
    return True


def _proposed(text: str) -> Decimal | None:
    try:
        proposed: Decimal = amount_formfield().clean(text)
    except ValidationError:
        return None
    return proposed


def dial_shown(draft: Release, budget: Budget, form: MethodForm) -> Json:
    """The dial's ends, as powers of ten; what the form's cost means; what others have chosen; which error it buys."""
    amount = _proposed(form["amount"].value())
    return {
        **ends(budget.total),
        "meaning": drafts.meaning_of(draft, amount) if amount else "",
        "published_choices": cost.CHOICES,
        "error_label": planner_of(draft).error_label(draft),
        "further_error_label": planner_of(draft).further_error_label(draft),
    }


def methods(
    draft: Release,
    budget: Budget,
    form: MethodForm,
    searches: list[StoredQuestion],
    simulation: StoredQuestion | None,
) -> Json:
    """The methods side by side at the form's cost; the chosen one's own fields, and its noise on made-up counts.

    searches: those that some methods wait for. simulation: what to expect of them, where the product has one.
    """
    checked = form["mechanism"].value()
    shared = {"budget": budget, "chosen_method": checked, **dial_shown(draft, budget, form)}
    if form["purpose"].value() in Release.Purpose.values:
        draft.purpose = form["purpose"].value()
    wrong_amount = ""
    try:
        amount = amount_formfield().clean(form["amount"].value())
    except ValidationError as error:
        # The methods stand at the last cost, and the choice stays as it was.
        amount, wrong_amount = draft.amount_of(budget) or usual_amount(draft), error.messages[0]
    try:
        offers = drafts.offers(draft, amount)
    except DraftError as error:
        return {**shared, "refusal": error.message}
    compared = SideBySide(draft, offers, checked, amount)
    return {
        **shared,
        **compared.context,
        "amount": amount,
        "wrong_amount": wrong_amount,
        "exceeds": budget.is_granted and amount > budget.left,
        "worth": worth_of(draft, plan, amount) if (plan := compared.plan_of_the_chosen) else "",
        "searches": active_searches(draft, searches),
        **simulated(draft, simulation, amount),
        "proposes_method": _proposes_method(draft, form),
        "parameter_fields": form.parameter_fields(compared.chosen, _idle(compared.plan_of_the_chosen)),
    }


def _proposes_method(draft: Release, form: MethodForm) -> bool:
    """Whether nobody picked the method that the page shows as chosen."""
    if form.is_bound:
        return not form.data.get("mechanism") or is_method_as_proposed(form.data)
    return not draft.is_method_picked


def _idle(plan: ReleasePlan | None) -> list[str]:
    """Options that change nothing: where in its bin a value lies, if no column has bins."""
    domain = getattr(plan, "domain", None)
    return [WITHIN_BINS.name] if domain is not None and not bin_error.in_words(domain) else []


def simulated(draft: Release, simulation: StoredQuestion | None, amount: Decimal) -> Json:
    """What a simulation found, at this cost."""
    budget = drafts.budget_of(draft)
    return {
        "budget": budget,
        "amount": amount,
        **simulations.shown(simulation, Definition(budget.definition), amount, draft.parameters.get("keep")),
    }


def active_searches(draft: Release, searches: list[StoredQuestion]) -> list[Json]:
    """The strategies that are still being worked out, each with its method's title."""
    by_name = {m.name: m.title for m in planner_of(draft).methods}
    return [
        {"title": by_name[search.question["mechanism"]], "percent": search.percent}
        for search in searches
        if search.active
    ]
