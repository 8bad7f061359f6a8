"""Private choices of values that nobody declared: planned, paid for, followed."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api import spending
from dpportal.api.authentication import ADMINISTER, READ, token_of
from dpportal.api.confirmed_by_token import refuse
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.repeating import HAS_A_KEY, RepeatableRequest
from dpportal.api.shown import Wait, job_shown
from dpportal.api.value_choice_schemas import (
    NeededShown,
    ValueChoiceInput,
    ValuesPlanShown,
    ValuesShown,
    ValuesSpent,
)
from dpportal.budgets.amounts import plain
from dpportal.datasets.access import dataset_for
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.form_data import form_data
from dpportal.serving import long_polling
from dpportal.value_choices import keeping, lone_people, prices, second_person, services
from dpportal.value_choices.forms import CostForm
from dpportal.value_choices.models import ValueChoice
from mechanisms.partition_selection.choosing import ValueChoicePlan

router = Router(tags=["datasets"])


@router.post("/{uuid:dataset_id}/values/plan", auth=READ, response=ValuesPlanShown)
def plan_values(request: HttpRequest, dataset_id: UUID, payload: ValueChoiceInput) -> object:
    """What a private choice of a column's values would cost and keep. No data is looked at."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    plan = planned(dataset, payload)
    amount, delta = services.costs(plan)
    return ValuesPlanShown(
        column=payload.column,
        counted_in=plan.loss.symbol,
        amount=plain(amount),
        delta=plain(delta),
        needed=[NeededShown(chance=c, people=n) for c, n in services.people_needed(plan)],
        rules=[*keeping.rules(), lone_people.keeping_odds(plan)],
        warning=services.warning(dataset, plan),
        unpaid=services.why_unpaid(dataset, plan),
        second_person=_second_person(dataset, payload.column, plan),
        reviewed=services.reviewed_as(dataset, payload.column, plan),
    )


@router.post(
    "/{uuid:dataset_id}/values",
    auth=ADMINISTER,
    response={200: ValuesShown, 202: ValuesShown},
    openapi_extra=HAS_A_KEY,
)
def choose_values(request: HttpRequest, dataset_id: UUID, payload: ValuesSpent) -> object:
    """Spend the budget, for good, on a private choice of a column's values, which are then declared.

    Sent again with the same Idempotency-Key, it spends nothing and is answered with the choice. Where a site wants a
    second person for such a cost, one is asked for on the page: what is spent then would be no token's.
    """
    dataset = dataset_for(request, dataset_id, Right.OWN)
    sent = RepeatableRequest(request, f"values of {dataset_id}", payload.for_comparison)
    if (known := sent.earlier()) is not None:
        return _shown(services.choice_of(dataset, known))
    plan, by = planned(dataset, payload), current_user(request)
    shown = services.reviewed_as(dataset, payload.column, plan)
    if second_person.asks_first(dataset, plan):
        refuse(payload, shown, prices.address_of(dataset, payload.column, plan))
    answer = form_data(payload.dict(include={"reviewed", "agreed", "one_row"}))
    form = services.review_form(answer, dataset, shown)
    with form.taking(*services.REFUSALS):
        if services.is_confirmed(form, dataset, by):
            with transaction.atomic():
                choice = services.request(dataset, payload.column, plan, reviewed=form.digest_read, by=by)
                spending.charge(token_of(request), choice)
                sent.remember(choice.pk)
    require_valid(form)
    return Status(202, _shown(services.choice_of(dataset, choice.pk)))


@router.get("/{uuid:dataset_id}/values/{uuid:choice_id}", auth=READ, response=ValuesShown)
def chosen_values(
    request: HttpRequest, response: HttpResponse, dataset_id: UUID, choice_id: UUID, wait: Wait = 0
) -> object:
    """A choice and what was kept. wait: while its job is at work, the answer waits, so many seconds at most."""
    choice = services.choice_of(dataset_for(request, dataset_id, Right.SEE), choice_id)
    if wait and choice.active:
        long_polling.wait(request, response, wait)
    return _shown(choice)


def planned(dataset: Dataset, payload: ValueChoiceInput | ValuesSpent) -> ValueChoicePlan:
    """What was said, as the page's form reads it. Raises RefusedError."""
    if payload.column not in [column["name"] for column in dataset.columns]:
        text = _("This dataset has no column “%(column)s”.") % {"column": payload.column[:80]}
        raise RefusedError(422, text, {"column": [text]})
    if reason := services.why_not(dataset, payload.column):
        raise RefusedError(409, reason)
    form = CostForm(form_data({"amount": payload.amount, "delta": payload.delta}), dataset=dataset)
    require_valid(form)
    assert form.plan is not None
    return form.plan


def _second_person(dataset: Dataset, column: str, plan: ValueChoicePlan) -> str:
    if not second_person.asks_first(dataset, plan):
        return ""
    latest = second_person.latest(dataset, column)
    return "waiting" if latest and latest.is_waiting else "needed"


def _shown(choice: ValueChoice) -> ValuesShown:
    return ValuesShown(
        id=choice.pk,
        column=choice.column,
        cost=choice.charge.cost,
        kept=choice.kept,
        undeclared=choice.undeclared,
        job=job_shown(choice),
    )
