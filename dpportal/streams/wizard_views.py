"""The four steps from a draft to an open stream. Each has its address; each saves what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets import asking, confirming
from dpportal.budgets.cost_dial import announce, initial_cost, updated_proposal, with_cost
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from dpportal.publications import cost
from dpportal.publications.search_progress import chosen_by_hand, from_workers, is_method_as_proposed
from dpportal.publications.steps import Wizard
from dpportal.streams import choosing, correction_rule, drafts, prices, services, strategy_page
from dpportal.streams.access import stream_for
from dpportal.streams.forms import CHOSEN, CountedForm, StrategyForm
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream
from dpportal.streams.series import as_epsilon_delta, promise_of_draft, whole_orders
from dpportal.streams.services import StreamError
from mechanisms import registry
from mechanisms.protocol import PlanError

wizard = Wizard(
    space="streams",
    name="stream",
    steps=[
        ("counted", gettext_lazy("What is counted")),
        ("timing", gettext_lazy("Periods")),
        ("strategy", gettext_lazy("Method and accuracy")),
        ("review", gettext_lazy("Review")),
    ],
    own=stream_for,
    spent="home",
    already_spent=gettext_lazy(
        "This running count was already confirmed; its choices can no longer be changed."
    ),
    discard=services.discard,
    refusal=StreamError,
)


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.RELEASE)
def start(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """The first step of a stream that is not saved yet."""
    if reason := services.why_not_started(dataset):
        messages.info(request, reason)
        return redirect("datasets:home", dataset.pk)
    return _counted(request, Stream(dataset=dataset, created_by=current_user(request)))


@wizard.step
def counted(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    """Step 1: whom or what the stream counts."""
    return _counted(request, draft)


def _counted(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    form = CountedForm(request.POST or None, instance=draft, declared=choosing.declared_columns(draft))
    if request.method == "POST" and form.is_valid():
        return wizard.forward(request, draft, form.apply(), "timing")
    return wizard.page(request, "counted", draft, form)


@wizard.step
def timing(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    """Step 2: for which periods."""
    form = choosing.periods_form(draft, request.POST)
    if form.is_valid():
        return wizard.forward(request, draft, form.apply(), "strategy")
    return wizard.page(request, "timing", draft, form, mode=CHOSEN if "cells" in form.fields else "")


@from_workers
@wizard.step
def strategy(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    """Compare the strategies; asked by htmx, only their table at the cost that was typed."""
    try:
        budget = drafts.budget_of(draft)
        usual = partial(strategy_page.usual_amount, draft)
        offered, initial = initial_cost(draft, budget, _linked(request), usual)
        by_htmx = getattr(request, "htmx", False)
        proposal = _updated_proposal(request.POST, usual) if by_htmx else None
        posted = request.POST if proposal is None else with_cost(request.POST, proposal)
        typed = StrategyForm(posted)
        amount = offered if "amount" in typed.errors else typed.cleaned_data["amount"]
        offers = drafts.offers(draft, amount)
    except StreamDraftError as refusal:
        return wizard.page(request, "strategy", draft, None, refusal=str(refusal))
    form = StrategyForm(posted or None, initial=initial, offers=offers)
    named = chosen_by_hand(request.POST).get("mechanism") if by_htmx else form["mechanism"].value()
    picked = request.POST.get("use") or named or (draft.mechanism if draft.is_method_picked else "")
    exceeds = budget.is_granted and amount > budget.left
    context = {
        "budget": budget,
        "amount": amount,
        "exceeds": exceeds,
        "proposes_method": not picked or is_method_as_proposed(request.POST),
        **strategy_page.strategies(draft, offers, picked, amount),
    }
    if by_htmx:
        shown = {"stream": draft, "form": form, **context}
        response = render(request, "streams/_offers.html", shown)
        announce(response, proposal)
        return response
    if choosing.choose_strategy(draft, form, context["chosen"], request.POST):
        return wizard.forward(request, draft, (*Stream.PRICE, *Stream.METHOD), "review")
    context.update(strategy_page.dial_shown(draft, context["chosen"], amount))
    return wizard.page(request, "strategy", draft, form, **context)


def _updated_proposal(posted: QueryDict, usual: Callable[[], Decimal]) -> Decimal | None:
    """Another usual cost than the one that the page proposed, where nobody picked a cost or a method."""
    return updated_proposal(posted, usual) if is_method_as_proposed(posted) else None


def _linked(request: HttpRequest) -> Decimal | None:
    """The cost that a link to the page proposes, as the verdict's does."""
    linked = StrategyForm(request.GET)
    return None if "amount" in linked.errors else linked.cleaned_data["amount"]


dial = wizard.dial(strategy_page.turned, (StreamDraftError, PlanError))


@from_workers
@wizard.step
def review(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    """Step 4: all that was chosen; confirming it spends the budget."""
    try:
        version, plan = drafts.plan_of(draft)
        _version, counts = drafts.counted_of(draft)
    except StreamDraftError as error:
        messages.info(request, str(error))
        return redirect("streams:strategy", draft.pk)

    assert draft.amount is not None
    expected = strategy_page.expected_verdict(draft, plan, draft.amount)
    shown = confirming.ShownPlan(services.reviewed_as(draft, version, plan), expected["verdict"].is_useless)
    by = current_user(request)
    form = confirming.review_form(request.POST, by, draft, shown)
    with form.taking(StreamDraftError, StreamError, BudgetRefusedError):
        if confirming.is_to_be_spent(form, by, draft, shown):
            services.request_opening(draft, reviewed=form.digest_read, by=by)
    if form.is_valid():
        return redirect("streams:review" if confirming.waits(draft) else "streams:home", draft.pk)
    asking.note_read(request, draft.dataset, str(draft.pk))
    budget = drafts.budget_of(draft)
    columns = [name for name in (draft.column, draft.summed) if name]
    context = {
        "budget": budget,
        "plan": plan,
        "strategy_title": registry.stream(plan.mechanism).title,
        "version": version,
        **confirming.review_context(by, draft, budget, columns),
        "counted": counts,
        "half_width": int(strategy_page.half_width(plan)),
        "meaning": cost.meaning(plan.loss, budget.delta, whole_orders=whole_orders(plan)),
        "statement": promise_of_draft(draft, plan, budget.delta, version),
        "corrections": correction_rule.rule(plan.loss),
        "epsilon_delta": as_epsilon_delta(plan, budget.delta),
        **expected,
    }
    return wizard.page(request, "review", draft, form, **context)


@from_workers
@wizard.step
def ask(request: HttpRequest, draft: Stream) -> HttpResponseBase:
    """Ask the administrators for what the draft costs."""
    if request.method != "POST":
        return asking.awaited(request, draft.dataset, reverse("streams:review", args=[draft.pk]))
    try:
        _version, plan = drafts.plan_of(draft)
    except StreamDraftError as error:
        messages.info(request, str(error))
        return redirect("streams:strategy", draft.pk)
    return asking.send(request, draft.dataset, prices.priced(draft, plan))


@curator_required
@require_POST
def again(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    """A new draft with the choices of a stream that could not be opened, or of any other."""
    draft = services.duplicate(stream_for(request, stream_id), current_user(request))
    return redirect("streams:counted", draft.pk)
