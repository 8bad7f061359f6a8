"""The four steps from a draft to a spent budget. Each has its address; each saves what was chosen."""

from __future__ import annotations

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy

from dpportal.accounts.permissions import current_user
from dpportal.budgets import asking, confirming
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.platform.json_types import Json
from dpportal.platform.typed_numbers import integer_text
from dpportal.publications import cost
from dpportal.publications.search_progress import from_workers
from dpportal.publications.statement import epsilon_delta_text
from dpportal.publications.steps import Wizard
from dpportal.publications.verdict import is_doubted
from dpportal.releases import drafts, prices, services
from dpportal.releases.access import release_for
from dpportal.releases.database_time import database_time
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise_of_draft
from dpportal.releases.products import PRODUCTS, DraftError, method_title, planner_of, product_of
from dpportal.releases.products.queries import matrices
from dpportal.releases.products.shared.average_group import is_smallest
from dpportal.releases.products.shared.differing_rows import of_periods
from dpportal.releases.services import ReleaseError
from dpportal.releases.wizard import choices, choosing
from dpportal.releases.wizard.dial import cheaper_amount, turned
from dpportal.releases.wizard.starting import starting
from dpportal.serving.files import takes_files
from mechanisms.accounting import Loss
from mechanisms.protocol import PlanError

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
    discard=services.discard,
    refusal=ReleaseError,
)


@starting
def start(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Begin a draft; of a product that was named already, at the choice of columns.

    Where the people were estimated and columns are ticked in advance, at the review of what is recommended.
    """
    draft = services.start_draft(dataset, current_user(request))
    if request.POST.get("product") not in PRODUCTS:
        return redirect("releases:product", draft.pk)
    draft.product = request.POST["product"]
    draft.skip("product")
    if choosing.choose_usual_columns(
        draft, integer_text(request.POST.get("people", ""))
    ) and choices.take_recommended(draft):
        draft.skip("columns", "method")
        return wizard.forward(request, draft, choosing.EVERYTHING, "review")
    return wizard.forward(request, draft, ("product", "people", "skipped_steps"), "columns")


@wizard.step
def product(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 1: what is to be released, and its title."""
    form = choosing.choose_product(draft, request.POST)
    if form.is_valid():
        draft.go_through("product")
        return wizard.forward(request, draft, choosing.OF_PRODUCT, "columns")
    products = [(product, product.planner.unavailable(draft.unit)) for product in PRODUCTS.values()]
    return _page(request, "product", draft, form, products=products)


@takes_files(matrices.MAX_FILE_BYTES)
@wizard.step
def columns(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 2: of which columns."""
    form = choosing.choose_columns(draft, request.POST, request.FILES)
    if form.is_valid():
        return _after_columns(request, draft)
    declared = form.declared
    ticked = draft.columns or form.initial["columns"] or []
    context = {"declared": declared, **choices.cells(declared, ticked, draft.people)}
    return _page(request, "columns", draft, form, **context)


def _after_columns(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """On to the method and its accuracy, or to the review of what is recommended."""
    draft.go_through("columns")
    if request.POST.get("next") == "review" and choices.take_recommended(draft):
        draft.skip("method")
        return wizard.forward(request, draft, (*choosing.OF_COLUMNS, *choosing.OF_METHOD), "review")
    return wizard.forward(request, draft, choosing.OF_COLUMNS, "method")


@from_workers
@wizard.step
def method(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 3: by which method, and at which cost."""
    try:
        searches, simulation = services.ask_strategies(draft), services.ask_simulation(draft)
    except DraftError as error:
        return _page(request, "method", draft, None, refusal=error)
    budget = drafts.budget_of(draft)
    initial = choices.method_initial(draft, budget, request.GET.get("amount", ""))
    form = choosing.choose_method(draft, request.POST, initial)
    if form.is_valid():
        draft.go_through("method")
        # Options that were not on the page are shown before anything is reviewed.
        step, part = ("review", "") if form.options_were_shown() else ("method", "#chosen")
        return wizard.forward(request, draft, choosing.OF_METHOD, step, part)
    return _page(request, "method", draft, form, **choices.methods(draft, budget, form, searches, simulation))


dial = wizard.dial(turned, (DraftError, PlanError))


@from_workers
@wizard.step
def review(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 4: all that was chosen; confirming it spends the budget."""
    try:
        version, plan = drafts.plan_of(draft)
    except DraftError as error:
        messages.info(request, error.message)
        return redirect(f"releases:{error.step}", draft.pk)

    verdict = planner_of(draft).verdict(plan, draft)
    shown = confirming.ShownPlan(services.reviewed_as(version, plan), bool(verdict and verdict.is_useless))
    by, publish = current_user(request), request.POST.get("then") == "publish"
    form = confirming.review_form(request.POST, by, draft, shown)
    with form.taking(DraftError, ReleaseError, BudgetRefusedError):
        if confirming.is_to_be_spent(form, by, draft, shown):
            services.request_release(draft, reviewed=form.digest_read, by=by, publish=publish)
    if form.is_valid():
        return redirect("releases:review" if confirming.waits(draft) else "releases:job", draft.pk)
    budget = drafts.budget_of(draft)
    assert draft.amount is not None
    asking.note_read(request, draft.dataset, str(draft.pk))
    context = {
        "plan": plan,
        "method_title": method_title(draft.product, plan.mechanism),
        "verdict": verdict,
        "is_doubted": is_doubted(verdict),
        "readers_see": product_of(draft).readers_see,
        "better_amount": verdict and verdict.amount(draft.amount, plan.loss.definition),
        "cheaper_amount": cheaper_amount(draft, plan),
        "is_smallest": is_smallest(plan),
        "version": version,
        **confirming.review_context(by, draft, budget, draft.columns),
        **planner_of(draft).offer(plan, draft),
        "database_time": database_time(draft),
        "budget": budget,
        **_promised(draft, version, plan.loss, budget.delta),
        "of_periods": of_periods(version.domain(), draft.columns),
        "filled": version.attributes.filter(filled_from_data=True, column__in=draft.columns),
    }
    return _page(request, "review", draft, form, **context)


def _promised(draft: Release, version: DomainVersion, loss: Loss, delta: float) -> Json:
    """What its cost promises, to the curator and to readers. delta: at which ρ is read as ε."""
    return {
        "meaning": cost.meaning(loss, delta),
        "statement": promise_of_draft(draft, loss, delta, version),
        "epsilon_delta": epsilon_delta_text(loss, delta),
    }


@from_workers
@wizard.step
def ask(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Ask the administrators for what the draft costs."""
    if request.method != "POST":
        return asking.awaited(request, draft.dataset, reverse("releases:review", args=[draft.pk]))
    try:
        _version, plan = drafts.plan_of(draft)
    except DraftError as error:
        messages.info(request, error.message)
        return redirect(f"releases:{error.step}", draft.pk)
    return asking.send(request, draft.dataset, prices.priced(draft, plan))


def _page(
    request: HttpRequest, step: str, draft: Release, form: BaseForm | None, **context: object
) -> HttpResponse:
    return wizard.page(request, step, draft, form, product=product_of(draft), **context)
