"""The four steps from a draft to a spent budget. Each has its address; each saves what was chosen."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy

from dpportal.accounts.permissions import current_user
from dpportal.budgets import asking, confirming
from dpportal.budgets.cost_dial import counted_otherwise
from dpportal.datasets.models import Dataset
from dpportal.publications.search_progress import from_workers
from dpportal.publications.statement import epsilon_delta_text
from dpportal.publications.steps import Wizard
from dpportal.releases import drafts, prices, services
from dpportal.releases.access import release_for
from dpportal.releases.database_time import database_time
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise_of_draft
from dpportal.releases.products import PRODUCTS, DraftError, method_title, planner_of, product_of
from dpportal.releases.products.queries import matrices
from dpportal.releases.services import ReleaseError
from dpportal.releases.wizard import choices
from dpportal.releases.wizard.dial import turned
from dpportal.releases.wizard.forms import MethodForm, ProductForm
from dpportal.releases.wizard.starting import starting
from dpportal.serving.files import takes_files
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


# What the step about the method chooses.
CHOSEN = ("mechanism", "amount", "priced_in", "parameters", "purpose")


@starting
def start(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Begin a draft."""
    return redirect("releases:product", services.start_draft(dataset, current_user(request)).pk)


@wizard.step
def product(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 1: what is to be released, and its title."""
    before = draft.product
    form = ProductForm(request.POST or None, instance=draft)
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["product"] != before:
            draft.columns, draft.mechanism, draft.parameters = [], "", {}
        chosen = ("title", "product", "columns", "mechanism", "parameters")
        return wizard.forward(request, draft, chosen, "columns")
    unit = drafts.unit_of(draft)
    products = [(product, product.planner.unavailable(unit)) for product in PRODUCTS.values()]
    return _page(request, "product", draft, form, products=products)


@takes_files(matrices.MAX_FILE_BYTES)
@wizard.step
def columns(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 2: of which columns."""
    declared = choices.declared_columns(draft)
    form = planner_of(draft).form(request.POST or None, request.FILES or None, declared=declared, draft=draft)
    if request.method == "POST" and form.is_valid():
        form.apply(draft)
        try:
            drafts.reject_overlapping_columns(draft, declared.project(draft.columns))
        except DraftError as error:
            form.add_error(None, error.message)
        else:
            return wizard.forward(request, draft, ("columns", "people", "parameters"), "method")
    context = {"declared": declared, **choices.cells(declared, draft.columns, draft.people)}
    return _page(request, "columns", draft, form, **context)


@from_workers
@wizard.step
def method(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Step 3: by which method, and at which cost."""
    try:
        searches, simulation = services.ask_strategies(draft), services.ask_simulation(draft)
    except DraftError as error:
        return _page(request, "method", draft, None, refusal=error)
    budget = drafts.budget_of(draft)
    form = MethodForm(
        _with_used(request.POST) or None,
        initial=choices.method_initial(draft, budget, request.GET.get("amount", "")),
        mechanisms=planner_of(draft).methods,
        automatic=planner_of(draft).has_automatic,
    )
    if otherwise := counted_otherwise(request.POST, budget):
        form.add_error("amount", otherwise)
    if request.method == "POST" and form.is_valid():
        draft.mechanism = form.cleaned_data["mechanism"]
        draft.price(form.cleaned_data["amount"], budget)
        draft.parameters = {**draft.parameters, **form.parameters()}
        draft.purpose = form.cleaned_data["purpose"] or draft.purpose
        try:
            drafts.plan_of(draft)
        except DraftError as error:
            form.add_error("mechanism", error.message)
        if not form.errors:
            # Options that were not on the page are shown before anything is reviewed.
            step, part = ("review", "") if form.options_were_shown() else ("method", "#chosen")
            return wizard.forward(request, draft, CHOSEN, step, part)
    return _page(request, "method", draft, form, **choices.methods(draft, budget, form, searches, simulation))


def _with_used(posted: QueryDict) -> QueryDict:
    """What was posted; who pressed a recommended method's button chose that method."""
    if "use" not in posted:
        return posted
    changed = posted.copy()
    changed.setlist("mechanism", posted.getlist("use"))
    return changed


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

    shown = services.reviewed_as(version, plan)
    spend = partial(services.request_release, draft, by=current_user(request))
    form = confirming.confirmed(
        request, draft, shown, lambda read: spend(reviewed=read), (DraftError, ReleaseError)
    )
    if form is None:
        return redirect("releases:review" if confirming.waits(draft) else "releases:job", draft.pk)
    budget = drafts.budget_of(draft)
    assert draft.amount is not None
    verdict = planner_of(draft).verdict(plan, draft)
    context = {
        "plan": plan,
        "method_title": method_title(draft.product, plan.mechanism),
        "verdict": verdict,
        "better_amount": verdict and verdict.amount(draft.amount, plan.loss.definition),
        "version": version,
        **confirming.around(request, draft, budget, draft.columns),
        **planner_of(draft).offer(plan, draft),
        "database_time": database_time(draft),
        "statement": promise_of_draft(plan.loss, budget.delta, version, draft.other_promises),
        "epsilon_delta": epsilon_delta_text(plan.loss, budget.delta),
        "budget": budget,
        "filled": version.attributes.filter(filled_from_data=True, column__in=draft.columns),
    }
    return _page(request, "review", draft, form, **context)


@from_workers
@wizard.step
def ask(request: HttpRequest, draft: Release) -> HttpResponseBase:
    """Ask the administrators for what the draft costs."""
    if request.method != "POST":
        return redirect("releases:review", draft.pk)
    try:
        _version, plan = drafts.plan_of(draft)
    except DraftError as error:
        messages.info(request, error.message)
        return redirect(f"releases:{error.step}", draft.pk)
    return asking.send(request, draft.dataset, prices.of(draft, plan))


def _page(
    request: HttpRequest, step: str, draft: Release, form: BaseForm | None, **context: object
) -> HttpResponse:
    return wizard.page(request, step, draft, form, product=product_of(draft), **context)
