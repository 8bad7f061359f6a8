"""The four steps from a draft to a spent budget. Each has its address; each saves what was chosen."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets import ledger, refusals
from dpportal.datasets import services as datasets
from dpportal.datasets.access import dataset_for
from dpportal.datasets.fit import shown_warnings
from dpportal.datasets.models import Right
from dpportal.pages.confirming import confirmation
from dpportal.pages.steps import Wizard
from dpportal.pages.workings import from_workers
from dpportal.publishing.statement import epsilon_delta_text
from dpportal.releases import drafts, services
from dpportal.releases.access import release_for
from dpportal.releases.models import Release
from dpportal.releases.products import PRODUCTS, DraftError, method_title, product_of
from dpportal.releases.products.queries import matrices
from dpportal.releases.promise import promise_of_draft
from dpportal.releases.services import ReleaseError
from dpportal.releases.wizard import choices
from dpportal.releases.wizard.forms import MethodForm, ProductForm
from dpportal.serving.files import takes_files

wizard = Wizard(
    space="releases",
    name="release",
    steps=[
        ("product", gettext_lazy("Product")),
        ("columns", gettext_lazy("Columns and cells")),
        ("method", gettext_lazy("Method and accuracy")),
        ("review", gettext_lazy("Review")),
    ],
    own=release_for,
    spent="job",
    already_spent=gettext_lazy("This release was already confirmed; its choices can no longer be changed."),
)


@curator_required
@require_POST
def start(request: HttpRequest, dataset_id: UUID) -> HttpResponseBase:
    dataset = dataset_for(request, dataset_id, Right.RELEASE)
    if not dataset.has_records:
        messages.error(request, _("This dataset holds no records, so nothing can be released from it."))
        return redirect("datasets:home", dataset.pk)
    draft = services.start_draft(dataset, current_user(request))
    return redirect("releases:product", draft.pk)


@wizard.step
def product(request: HttpRequest, draft: Release) -> HttpResponseBase:
    before = draft.product
    form = ProductForm(request.POST or None, instance=draft)
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["product"] != before:
            draft.columns, draft.mechanism, draft.parameters = [], "", {}
        chosen = ("title", "product", "columns", "mechanism", "parameters")
        return wizard.forward(request, draft, chosen, "columns")
    unit = drafts.unit_of(draft)
    products = [(product, product.unavailable(unit)) for product in PRODUCTS.values()]
    return _page(request, "product", draft, form, products=products)


@takes_files(matrices.MAX_FILE_BYTES)
@wizard.step
def columns(request: HttpRequest, draft: Release) -> HttpResponseBase:
    declared, chosen = choices.declared_columns(draft), product_of(draft)
    form = chosen.form(request.POST or None, request.FILES or None, declared=declared, draft=draft)
    if request.method == "POST" and form.is_valid():
        form.apply(draft)
        try:
            drafts.require_read_once(declared.project(draft.columns))
        except DraftError as error:
            form.add_error(None, error.message)
        else:
            return wizard.forward(request, draft, ("columns", "people", "parameters"), "method")
    context = {"declared": declared, **choices.cells(declared, draft.columns, draft.people)}
    return _page(request, "columns", draft, form, **context)


@from_workers
@wizard.step
def method(request: HttpRequest, draft: Release) -> HttpResponseBase:
    try:
        budget = drafts.budget_of(draft)
        searches, simulation = services.ask_strategies(draft), services.ask_simulation(draft)
    except DraftError as error:
        return _page(request, "method", draft, None, refusal=error)
    form = MethodForm(
        _with_used(request.POST) or None,
        initial=choices.method_initial(draft, budget, request.GET.get("amount", "")),
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
        if draft.amount > budget.left:
            form.add_error("amount", refusals.shortage_text(budget, draft.amount))
        if not form.errors:
            return wizard.forward(request, draft, ("mechanism", "amount", "parameters", "purpose"), "review")
    return _page(request, "method", draft, form, **choices.methods(draft, budget, form, searches, simulation))


def _with_used(posted: QueryDict) -> QueryDict:
    """What was posted; who pressed a recommended method's button chose that method."""
    if "use" not in posted:
        return posted
    changed = posted.copy()
    changed.setlist("mechanism", posted.getlist("use"))
    return changed


@from_workers
@wizard.step
def review(request: HttpRequest, draft: Release) -> HttpResponseBase:
    try:
        version, plan = drafts.plan_of(draft)
    except DraftError as error:
        messages.info(request, error.message)
        return redirect(f"releases:{error.step}", draft.pk)

    identifying = datasets.columns_to_ask_about(draft.dataset)

    def spend(reviewed: str) -> None:
        if identifying:
            datasets.confirm_one_row(draft.dataset, identifying, current_user(request))
        services.request_release(draft, reviewed=reviewed, by=current_user(request))

    shown = services.reviewed_as(version, plan)
    form = confirmation(
        request, shown, spend, (DraftError, ReleaseError, ledger.BudgetRefusedError), identifying
    )
    if form is None:
        return redirect("releases:job", draft.pk)
    budget = drafts.budget_of(draft)
    assert draft.amount is not None
    verdict = product_of(draft).foreseen(plan, draft)
    context = {
        "plan": plan,
        "method_title": method_title(draft.product, plan.mechanism),
        "verdict": verdict,
        "better_amount": verdict and verdict.amount(draft.amount, plan.loss.definition),
        "identifying": identifying,
        "version": version,
        "fit_warnings": shown_warnings(draft.dataset, draft.columns, current_user(request)),
        **product_of(draft).offer(plan, draft),
        "statement": promise_of_draft(plan.loss, budget.delta, version, draft.other_promises),
        "epsilon_delta": epsilon_delta_text(plan.loss, budget.delta),
        "left_after": budget.left - draft.amount,
        "budget": budget,
        "filled": version.attributes.filter(filled_from_data=True, column__in=draft.columns),
    }
    return _page(request, "review", draft, form, **context)


@curator_required
@require_POST
def discard(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    draft = release_for(request, release_id)
    try:
        services.discard(draft)
        messages.success(request, _("The draft is deleted. Nothing was spent on it."))
    except ReleaseError as refusal:
        messages.error(request, str(refusal))
    return redirect("datasets:home", draft.dataset_id)


def _page(
    request: HttpRequest, step: str, draft: Release, form: BaseForm | None, **context: Any
) -> HttpResponse:
    return wizard.page(request, step, draft, form, product=product_of(draft), **context)
