"""What a choice of values costs and keeps, as administrators are told; no record is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.functional import lazy
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import BudgetRequest
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets.models import Dataset
from dpportal.value_choices import services
from dpportal.value_choices.models import ValueChoice, stored_title
from mechanisms.partition_selection.choosing import ValueChoicePlan


def priced(dataset: Dataset, column: str, plan: ValueChoicePlan) -> PricedDraft:
    """For the request of a budget. Instead of a margin it says which values would be kept."""
    amount, delta = services.costs(plan)
    return PricedDraft(
        stored_title(column),
        amount,
        plan.loss.definition.value,
        lazy(_keeping_text, str)(plan),
        address_of(dataset, column, plan),
        delta,
    )


def _keeping_text(plan: ValueChoicePlan) -> str:
    (_least, _few), (chance, people), *_more = services.people_needed(plan)
    text = _("A value of %(people)s people is kept with a chance of %(chance)s.")
    return text % {"people": f"{people:,}", "chance": chance}


def page_of(dataset: Dataset, column: str) -> str:
    """The path of the page on which the values of a column are chosen."""
    names = [each["name"] for each in dataset.columns]
    return reverse("values:choose", args=[dataset.pk, names.index(column)])


def is_open(budget_request: BudgetRequest, ids: Mapping[str, Any]) -> bool:
    """Whether the choice that was asked for can still be made: nothing of its column was chosen since."""
    column = budget_request.dataset.columns[ids["position"]]["name"]
    since = ValueChoice.objects.filter(
        dataset=budget_request.dataset, column=column, created_at__gte=budget_request.at
    )
    return not services.why_not(budget_request.dataset, column) and not since.exists()


def address_of(dataset: Dataset, column: str, plan: ValueChoicePlan) -> str:
    """The same at this cost."""
    amount, delta = services.costs(plan)
    return f"{page_of(dataset, column)}?{urlencode({'amount': plain(amount), 'delta': plain(delta)})}"
