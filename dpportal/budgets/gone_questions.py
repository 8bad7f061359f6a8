"""What was asked for a draft whose columns are gone: the question stays, and says nothing of the draft."""

from __future__ import annotations

from django.db.models import Q

from dpportal.approvals import services as approvals
from dpportal.approvals.models import Approval
from dpportal.budgets import second_person
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets.gone_columns import GoneColumns
from dpportal.platform.two_people import PROTECTION, SPENDS


def forget(gone: GoneColumns) -> None:
    """Questions for budgets, and for a second person."""
    BudgetRequest.objects.filter(dataset=gone.dataset).exclude(title="").update(
        title="", amount=None, delta=0, definition="", margin="", address=""
    )
    key = str(gone.dataset.pk)
    of_it = Q(subject__in=[*second_person.keys_of_drafts(gone.dataset)]) | Q(arguments__dataset=key)
    of_it = Q(kind=SPENDS) & of_it | Q(kind=PROTECTION, subject=key)
    asked = Approval.objects.filter(of_it)
    approvals.forget(Approval.objects.filter(pk__in=[each.pk for each in asked if _names(each, gone)]))


def _names(asked: Approval, gone: GoneColumns) -> bool:
    return gone.are_in(asked.summary, asked.arguments, asked.answer)
