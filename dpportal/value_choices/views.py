"""Pages on which a curator has a column's values chosen privately."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets import asking
from dpportal.budgets.models import Budget
from dpportal.budgets.second_person import rule_text
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.json_types import Json
from dpportal.publications.confirmation import ConfirmForm
from dpportal.publications.steps import UNPROCESSABLE
from dpportal.value_choices import keeping, lone_people, prices, second_person, services
from dpportal.value_choices.forms import CostForm
from dpportal.value_choices.models import ValueChoice
from mechanisms.partition_selection.choosing import ValueChoicePlan


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def choose(request: HttpRequest, dataset: Dataset, position: int) -> HttpResponseBase:
    """What a choice at the cost of the address would do; posting confirms it."""
    column = _column(dataset, position)
    if reason := services.why_not(dataset, column):
        messages.error(request, reason)
        return redirect("datasets:column", dataset.pk, position)
    cost = CostForm(request.GET if "amount" in request.GET else None, dataset=dataset)
    confirm: ConfirmForm | None = None
    if cost.is_valid() and cost.plan:
        confirm = _confirm(request, dataset, column, cost.plan)
        if confirm.is_valid() and second_person.asks_first(dataset, cost.plan):
            return redirect(prices.address_of(dataset, column, cost.plan))
        if confirm.is_valid():
            return redirect(ValueChoice.objects.filter(dataset=dataset, column=column).latest("created_at"))
    asking.note_read(request, dataset, prices.page_of(dataset, column))
    context = {**_context(dataset, column), **_plan_context(dataset, column, cost.plan), "position": position}
    wrong = cost.errors or (confirm and confirm.errors)
    return render(
        request,
        "value_choices/choose.html",
        {**context, "cost": cost, "confirm": confirm},
        status=UNPROCESSABLE if wrong else 200,
    )


def _column(dataset: Dataset, position: int) -> str:
    """The name of a column by its place in the table."""
    if position >= len(dataset.columns):
        raise Http404
    name: str = dataset.columns[position]["name"]
    return name


def _plan_context(dataset: Dataset, column: str, plan: ValueChoicePlan | None) -> Json:
    return {
        "plan": plan,
        "why_unpaid": services.why_unpaid(dataset, plan) if plan else "",
        "people": services.people_needed(plan) if plan else [],
        "lone": lone_people.keeping_odds(plan) if plan else "",
        "warning": services.warning(dataset, plan) if plan else "",
        "priced": prices.priced(dataset, column, plan) if plan else None,
        "second_person": second_person.latest(dataset, column),
        "second_person_rule": rule_text(),
        "needs_second_person": plan is not None and second_person.asks_first(dataset, plan),
    }


def _confirm(request: HttpRequest, dataset: Dataset, column: str, plan: ValueChoicePlan) -> ConfirmForm:
    """The form under the plan; valid once it was confirmed, and is made or waits for a second person."""
    by, shown = current_user(request), services.reviewed_as(dataset, column, plan)
    act = second_person.ask if second_person.asks_first(dataset, plan) else services.request
    form = services.review_form(request.POST, dataset, shown)
    with form.taking(*services.REFUSALS):
        if services.is_confirmed(form, dataset, by):
            act(dataset, column, plan, reviewed=form.digest_read, by=by)
    return form


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def ask(request: HttpRequest, dataset: Dataset, position: int) -> HttpResponseBase:
    """Ask the administrators for what a choice at the cost of the address costs."""
    column = _column(dataset, position)
    cost = CostForm(request.GET, dataset=dataset)
    if services.why_not(dataset, column) or not cost.is_valid() or cost.plan is None:
        return redirect("values:choose", dataset.pk, position)
    priced = prices.priced(dataset, column, cost.plan)
    if request.method != "POST":
        return asking.awaited(request, dataset, priced.address)
    return asking.send(request, dataset, priced)


def _context(dataset: Dataset, column: str) -> Json:
    return {
        "dataset": dataset,
        "column": column,
        "budget": Budget.for_planning(dataset),
        "budget_request": dataset.budget_requests.first(),
        "version": dataset.current_domain(),
        "rules": keeping.rules(),
        "choices": ValueChoice.objects.filter(dataset=dataset, column=column).select_related(
            "charge__budget"
        ),
        "nav_section": "datasets",
    }


@curator_required
@require_GET
@with_dataset(Right.SEE)
def chosen(request: HttpRequest, dataset: Dataset, choice_id: UUID) -> HttpResponse:
    """How far a choice is, and what was kept."""
    choice = services.choice_of(dataset, choice_id)
    ValueChoice.objects.filter(pk=choice.pk, created_by=current_user(request), seen=False).exclude(
        finished_at=None
    ).update(seen=True)
    names = [column["name"] for column in dataset.columns]
    context = {
        **_context(dataset, choice.column),
        "choice": choice,
        "position": names.index(choice.column) if choice.column in names else None,
    }
    return render(request, "value_choices/chosen.html", context)


@curator_required
@require_GET
@with_dataset(Right.SEE)
def progress(request: HttpRequest, dataset: Dataset, choice_id: UUID) -> HttpResponse:
    """How far it is; tells htmx to reload the page when it has ended."""
    choice = services.choice_of(dataset, choice_id)
    response = render(request, "value_choices/_progress.html", {"dataset": dataset, "choice": choice})
    if not choice.active:
        response["HX-Refresh"] = "true"
    return response
