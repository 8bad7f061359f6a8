"""Pages on which a curator has a column's values chosen privately."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.budgets.models import Budget
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.json_types import Json
from dpportal.publications.confirmation import ConfirmForm
from dpportal.publications.steps import UNPROCESSABLE
from dpportal.value_choices import keeping, services
from dpportal.value_choices.forms import CostForm
from dpportal.value_choices.models import ValueChoice
from dpportal.value_choices.services import ChoiceError
from mechanisms.partition_selection.choosing import ValueChoicePlan


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def choose(request: HttpRequest, dataset: Dataset, position: int) -> HttpResponseBase:
    """What a choice at the cost of the address would do; posting confirms it."""
    if position >= len(dataset.columns):
        raise Http404
    column = dataset.columns[position]["name"]
    if reason := services.why_not(dataset, column):
        messages.error(request, reason)
        return redirect("datasets:column", dataset.pk, position)
    cost = CostForm(request.GET if "amount" in request.GET else None)
    plan = _planned(dataset, cost)
    confirm: ConfirmForm | None = None
    if plan is not None:
        confirm = _confirm(request, dataset, column, plan)
        if confirm is None:
            return redirect(ValueChoice.objects.filter(dataset=dataset, column=column).latest("created_at"))
    context = {
        **_around(dataset, column),
        "position": position,
        "cost": cost,
        "plan": plan,
        "confirm": confirm,
        "why_unpaid": services.why_unpaid(dataset, plan) if plan else "",
        "people": services.people_needed(plan) if plan else [],
    }
    wrong = cost.errors or (confirm and confirm.errors)
    return render(request, "value_choices/choose.html", context, status=UNPROCESSABLE if wrong else 200)


def _planned(dataset: Dataset, cost: CostForm) -> ValueChoicePlan | None:
    if not cost.is_valid():
        return None
    try:
        return services.plan_of(dataset, cost.cleaned_data["amount"], cost.cleaned_data["delta"])
    except ChoiceError as refusal:
        cost.add_error(None, str(refusal))
        return None


def _confirm(
    request: HttpRequest, dataset: Dataset, column: str, plan: ValueChoicePlan
) -> ConfirmForm | None:
    """The form under the plan; None once it was confirmed."""
    by, shown = current_user(request), services.reviewed_as(dataset, column, plan)

    def spend(reviewed: str) -> None:
        services.request(dataset, column, plan, reviewed=reviewed, by=by)

    return services.confirmed(request.POST, by, dataset, shown, spend)


def _around(dataset: Dataset, column: str) -> Json:
    return {
        "dataset": dataset,
        "column": column,
        "budget": Budget.for_planning(dataset),
        "version": dataset.current_domain(),
        "most": keeping.MOST,
        "longest": keeping.LONGEST,
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
        **_around(dataset, choice.column),
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
