"""Budgets: what is granted, spent and left, and asking for one."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Router

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.budget_schemas import BudgetInput, BudgetRequestShown, BudgetShown, BudgetsShown
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.searching import searching
from dpportal.api.value_choices import planned
from dpportal.budgets import asking
from dpportal.budgets.amounts import plain
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.models import Budget, BudgetRequest
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets.access import dataset_for
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.form_data import form_data
from dpportal.releases import drafts, prices
from dpportal.releases.access import release_for
from dpportal.streams import drafts as stream_drafts, prices as stream_prices
from dpportal.streams.access import stream_for
from dpportal.value_choices import prices as value_prices

router = Router(tags=["budgets"])


@router.get("/{uuid:dataset_id}/budgets", auth=READ, response=BudgetsShown)
def budgets(request: HttpRequest, dataset_id: UUID) -> object:
    """A dataset's budgets, one for each protection: losses for different people are never added."""
    return _shown(dataset_for(request, dataset_id, Right.SEE))


@router.post("/{uuid:dataset_id}/budgets/ask", auth=ADMINISTER, response={202: BudgetsShown})
def ask(request: HttpRequest, dataset_id: UUID, payload: BudgetInput) -> object:
    """Ask the administrators for a budget, for the cost of what is named. A question that waits stays."""
    dataset = dataset_for(request, dataset_id, Right.SEE)
    form = ReasonForm(form_data({"reason": payload.reason}))
    require_valid(form)
    with searching():
        priced = _priced(request, dataset, payload)
    asking.ask(dataset, form, current_user(request), priced)
    return _shown(dataset)


def _priced(request: HttpRequest, dataset: Dataset, payload: BudgetInput) -> PricedDraft | None:
    """What the draft or the choice costs that the budget is to pay for."""
    if payload.release is not None:
        release = release_for(request, payload.release)
        _require_of(dataset, release.dataset_id)
        return prices.priced(release, drafts.plan_of(release)[1])
    if payload.stream is not None:
        stream = stream_for(request, payload.stream)
        _require_of(dataset, stream.dataset_id)
        return stream_prices.priced(stream, stream_drafts.plan_of(stream)[1])
    if payload.values is not None:
        return value_prices.priced(dataset, payload.values.column, planned(dataset, payload.values))
    return None


def _require_of(dataset: Dataset, dataset_id: UUID) -> None:
    if dataset.pk != dataset_id:
        raise RefusedError(422, _("This draft is of another dataset."))


def _shown(dataset: Dataset) -> BudgetsShown:
    current = Budget.of(dataset)
    budget_request = dataset.budget_requests.first()
    return BudgetsShown(
        budgets=[
            BudgetShown(
                protects=str(budget.protection),
                counted_in=budget.symbol,
                granted=plain(budget.total),
                spent=plain(budget.spent),
                reserved=plain(budget.reserved),
                left=plain(budget.left),
                delta_granted=plain(budget.delta_total),
                delta_left=plain(budget.delta_left),
                is_current=budget == current,
            )
            for budget in dataset.budgets.all()
        ],
        asked=_shown_request(budget_request) if budget_request else None,
    )


def _shown_request(budget_request: BudgetRequest) -> BudgetRequestShown:
    return BudgetRequestShown(
        state=budget_request.state,
        reason=budget_request.reason,
        cost=budget_request.cost,
        answer=budget_request.answer,
        at=budget_request.at,
    )
