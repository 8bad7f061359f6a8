"""The four steps from a draft to an open stream. Each has its address; each saves what was chosen."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget
from dpportal.datasets.models import Dataset
from dpportal.datasets.views import own_dataset
from dpportal.releases.drafts import digest
from dpportal.releases.forms import ConfirmForm
from dpportal.releases.statement import epsilon_delta_text
from dpportal.releases.steps import numbered, status_of
from dpportal.streams import drafts, services
from dpportal.streams.access import own_stream
from dpportal.streams.counted import DraftError
from dpportal.streams.forms import CHOSEN, CountedForm, PeriodsForm, StrategyForm
from dpportal.streams.models import Stream
from dpportal.streams.series import promise
from dpportal.streams.services import StreamError
from mechanisms.continual import compare
from mechanisms.domain import Attribute

STEPS = [
    ("counted", gettext_lazy("What is counted")),
    ("timing", gettext_lazy("Periods")),
    ("strategy", gettext_lazy("Strategy and accuracy")),
    ("review", gettext_lazy("Review")),
]
FIRST_OFFER = Decimal("0.1")


@curator_required
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest, dataset_id: UUID) -> HttpResponseBase:
    """The first step of a stream that is not saved yet."""
    dataset = own_dataset(request, dataset_id)
    declared = _declared(dataset)
    if not dataset.has_records or not declared:
        messages.error(request, _("A stream needs a dataset with records and at least one declared column."))
        return redirect("datasets:home", dataset.pk)
    return _counted(request, Stream(dataset=dataset, created_by=current_user(request)), declared)


@curator_required
@require_http_methods(["GET", "POST"])
def counted(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    draft = own_stream(request, stream_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    return _counted(request, draft, _declared(draft.dataset))


def _counted(request: HttpRequest, draft: Stream, declared: list[Attribute]) -> HttpResponseBase:
    form = CountedForm(request.POST or None, instance=draft, declared=declared)
    if request.method == "POST" and form.is_valid():
        return _next(request, draft, form.apply(), "timing")
    return _page(request, "counted", draft, form)


@curator_required
@require_http_methods(["GET", "POST"])
def timing(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    draft = own_stream(request, stream_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    chosen = None if draft.split else draft.column
    column = next((a for a in _declared(draft.dataset) if a.name == chosen), None)
    form = PeriodsForm(request.POST or None, instance=draft, column=column)
    if request.method == "POST" and form.is_valid():
        return _next(request, draft, form.apply(), "strategy")
    return _page(request, "timing", draft, form, mode=CHOSEN if column else "")


@curator_required
@require_http_methods(["GET", "POST"])
def strategy(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    """Compare the strategies; asked by htmx, only their table at the cost that was typed."""
    draft = own_stream(request, stream_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    try:
        budget = drafts.budget_of(draft)
        initial = {"amount": draft.amount or min(budget.left, FIRST_OFFER) or FIRST_OFFER}
        typed = StrategyForm(request.POST)
        amount = initial["amount"] if "amount" in typed.errors else typed.cleaned_data["amount"]
        made = drafts.offers(draft, amount)
    except DraftError as refusal:
        return _page(request, "strategy", draft, None, refusal=str(refusal))
    form = StrategyForm(request.POST or None, initial=initial, offers=made)
    suggested = compare.suggested(made)
    chosen = form["mechanism"].value() or draft.mechanism or (suggested.mechanism.name if suggested else "")
    context = {"offers": made, "chosen": chosen, "suggested": suggested, "amount": amount}
    context["figure"] = drafts.expectations(draft, made)
    if getattr(request, "htmx", False):
        return render(request, "streams/_offers.html", {"form": form, "budget": budget, **context})
    if request.method == "POST" and form.is_valid():
        draft.amount, draft.mechanism = form.cleaned_data["amount"], chosen
        try:
            drafts.plan_of(draft)
        except DraftError as error:
            form.add_error("mechanism", str(error))
        else:
            return _next(request, draft, ("amount", "mechanism"), "review")
    return _page(request, "strategy", draft, form, **context)


@curator_required
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    draft = own_stream(request, stream_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    try:
        version, plan = drafts.plan_of(draft)
        _version, counts = drafts.counted_of(draft)
    except DraftError as error:
        messages.info(request, str(error))
        return redirect("streams:strategy", draft.pk)
    form = ConfirmForm(request.POST or None, initial={"reviewed": digest(plan)})
    if request.method == "POST" and form.is_valid():
        try:
            services.request_opening(draft, reviewed=form.cleaned_data["reviewed"], by=current_user(request))
        except (DraftError, StreamError, BudgetRefusedError) as refusal:
            form.add_error(None, str(refusal))
            # What is confirmed next is what this page shows.
            form.data = {**request.POST.dict(), "reviewed": digest(plan)}
        else:
            return redirect("streams:home", draft.pk)
    budget = drafts.budget_of(draft)
    assert draft.amount is not None
    context = {
        "plan": plan,
        "version": version,
        "counted": counts,
        "standard_error": plan.mean_squared_error**0.5,
        "statement": promise(plan.loss, budget.delta),
        "epsilon_delta": epsilon_delta_text(plan.loss, budget.delta),
        "left_after": budget.left - draft.amount,
    }
    return _page(request, "review", draft, form, **context)


@curator_required
@require_POST
def again(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    """A new draft with the choices of a stream that could not be opened, or of any other."""
    draft = services.duplicate(own_stream(request, stream_id), current_user(request))
    return redirect("streams:counted", draft.pk)


@curator_required
@require_POST
def discard(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    draft = own_stream(request, stream_id)
    try:
        services.discard(draft)
        messages.success(request, _("The draft is deleted. Nothing was spent on it."))
    except StreamError as refusal:
        messages.error(request, str(refusal))
    return redirect("datasets:home", draft.dataset_id)


def _declared(dataset: Dataset) -> list[Attribute]:
    version = dataset.current_domain()
    return list(version.domain().attributes) if version else []


def _page(request: HttpRequest, step: str, draft: Stream, form: Any, **context: Any) -> HttpResponse:
    shared = {
        "stream": draft,
        "dataset": draft.dataset,
        "budget": Budget.objects.filter(dataset=draft.dataset).first(),
        "form": form,
        "steps": numbered(STEPS, step, "streams", draft.pk),
        "nav_section": "streams",
    }
    return render(request, f"streams/{step}.html", {**shared, **context}, status=status_of(form))


def _next(request: HttpRequest, draft: Stream, chosen: Iterable[str], step: str) -> HttpResponseBase:
    """Save what was chosen and go on."""
    if not services.save_draft(draft, chosen):
        return _already_spent(request, draft)
    return redirect(f"streams:{step}", draft.pk)


def _already_spent(request: HttpRequest, stream: Stream) -> HttpResponseBase:
    messages.info(request, _("This stream was already confirmed; its choices can no longer be changed."))
    return redirect("streams:home", stream.pk)
