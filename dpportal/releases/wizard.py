"""The four steps from a draft to a spent budget. Each has its address; each saves what was chosen."""

from __future__ import annotations

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
from dpportal.datasets.views import own_dataset
from dpportal.releases import choices, drafts, services
from dpportal.releases.access import own_release
from dpportal.releases.forms import ConfirmForm, MethodForm, ProductForm
from dpportal.releases.models import Release
from dpportal.releases.products import PRODUCTS, DraftError, product_of
from dpportal.releases.services import ReleaseError
from dpportal.releases.statement import epsilon_delta_text, statement
from dpportal.releases.steps import numbered, status_of

STEPS = [
    ("product", gettext_lazy("Product")),
    ("columns", gettext_lazy("Columns and cells")),
    ("method", gettext_lazy("Method and accuracy")),
    ("review", gettext_lazy("Review")),
]


@curator_required
@require_POST
def start(request: HttpRequest, dataset_id: UUID) -> HttpResponseBase:
    dataset = own_dataset(request, dataset_id)
    if not dataset.has_records:
        messages.error(request, _("This dataset holds no records, so nothing can be released from it."))
        return redirect("datasets:home", dataset.pk)
    draft = services.start_draft(dataset, current_user(request))
    return redirect("releases:product", draft.pk)


@curator_required
@require_http_methods(["GET", "POST"])
def product(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = own_release(request, release_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    before = draft.product
    form = ProductForm(request.POST or None, instance=draft)
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["product"] != before:
            draft.columns, draft.mechanism, draft.parameters = [], "", {}
        form.save()
        return redirect("releases:columns", draft.pk)
    return _page(request, "product", draft, form, products=PRODUCTS.values())


@curator_required
@require_http_methods(["GET", "POST"])
def columns(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = own_release(request, release_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    declared, chosen = choices.declared_columns(draft), product_of(draft)
    form = chosen.form(request.POST or None, request.FILES or None, declared=declared, draft=draft)
    if request.method == "POST" and form.is_valid():
        form.apply(draft)
        draft.save(update_fields=["columns", "people", "parameters", "changed_at"])
        return redirect("releases:method", draft.pk)
    context = {"declared": declared, **choices.cells(declared, draft.columns, draft.people)}
    return _page(request, "columns", draft, form, **context)


@curator_required
@require_http_methods(["GET", "POST"])
def method(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = own_release(request, release_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    try:
        budget = drafts.budget_of(draft)
        searches = services.ask_strategies(draft)
    except DraftError as error:
        return _page(request, "method", draft, None, refusal=error)
    form = MethodForm(
        request.POST or None,
        initial=choices.method_initial(draft, budget),
        mechanisms=product_of(draft).mechanisms,
        automatic=product_of(draft).has_automatic,
        shared=product_of(draft).parameters,
    )
    if request.method == "POST" and form.is_valid():
        draft.mechanism, draft.amount = form.cleaned_data["mechanism"], form.cleaned_data["amount"]
        draft.parameters = {**draft.parameters, **form.parameters()}
        draft.purpose = form.cleaned_data["purpose"] or draft.purpose
        try:
            drafts.plan_of(draft)
        except DraftError as error:
            form.add_error("mechanism", error.message)
        else:
            draft.save(update_fields=["mechanism", "amount", "parameters", "purpose", "changed_at"])
            return redirect("releases:review", draft.pk)
    if request.method == "GET" and "compared" not in request.GET and drafts.plans_slowly(draft):
        return _page(request, "method", draft, form, waiting=True, **choices.dial_ends(budget))
    return _page(request, "method", draft, form, **choices.methods(draft, budget, form, searches))


@curator_required
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = own_release(request, release_id)
    if not draft.is_draft:
        return _already_spent(request, draft)
    try:
        version, plan = drafts.plan_of(draft)
    except DraftError as error:
        messages.info(request, error.message)
        return redirect(f"releases:{error.step}", draft.pk)
    form = ConfirmForm(request.POST or None, initial={"reviewed": drafts.digest(plan)})
    if request.method == "POST" and form.is_valid():
        try:
            services.request_release(draft, reviewed=form.cleaned_data["reviewed"], by=current_user(request))
        except (DraftError, ReleaseError, BudgetRefusedError) as refusal:
            form.add_error(None, str(refusal))
            # What is confirmed next is what this page shows.
            form.data = {**request.POST.dict(), "reviewed": drafts.digest(plan)}
        else:
            return redirect("releases:job", draft.pk)
    budget = draft.dataset.budget
    assert draft.amount is not None
    context = {
        "plan": plan,
        "version": version,
        **product_of(draft).offer(plan, draft),
        "statement": statement(plan.loss, budget.delta),
        "epsilon_delta": epsilon_delta_text(plan.loss, budget.delta),
        "left_after": budget.left - draft.amount,
        "budget": budget,
        "filled": version.attributes.filter(filled_from_data=True, column__in=draft.columns),
    }
    return _page(request, "review", draft, form, **context)


@curator_required
@require_POST
def discard(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = own_release(request, release_id)
    try:
        services.discard(draft)
        messages.success(request, _("The draft is deleted. Nothing was spent on it."))
    except ReleaseError as refusal:
        messages.error(request, str(refusal))
    return redirect("datasets:home", draft.dataset_id)


def _page(request: HttpRequest, step: str, draft: Release, form: Any, **context: Any) -> HttpResponse:
    shared = {
        "release": draft,
        "product": product_of(draft),
        "dataset": draft.dataset,
        "budget": Budget.objects.filter(dataset=draft.dataset).first(),
        "form": form,
        "steps": numbered(STEPS, step, "releases", draft.pk),
        "nav_section": "releases",
    }
    return render(request, f"releases/{step}.html", {**shared, **context}, status=status_of(form))


def _already_spent(request: HttpRequest, release: Release) -> HttpResponseBase:
    messages.info(request, _("This release was already confirmed; its choices can no longer be changed."))
    return redirect("releases:job", release.pk)
