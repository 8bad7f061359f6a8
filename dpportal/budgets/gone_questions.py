"""What was asked for a draft whose columns are gone: the question stays, and says nothing of the draft."""

from __future__ import annotations

from collections.abc import Collection

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
    waiting = Approval.objects.filter(Q(kind=SPENDS) | Q(kind=PROTECTION, subject=str(gone.dataset.pk)))
    if named := [each for each in waiting if _names(each, gone)]:
        own, every = set(second_person.keys_of_drafts(gone.dataset)), set(second_person.keys_of_drafts())
        forgotten = [each.pk for each in named if _is_of(each, gone, own, every)]
        approvals.forget(Approval.objects.filter(pk__in=forgotten))


def _is_of(approval: Approval, gone: GoneColumns, own: Collection[str], every: Collection[str]) -> bool:
    """Whether it is asked of the dataset; or of a draft that was deleted since, whose dataset nothing says.

    own, every: the keys of the dataset's drafts, and of all.
    """
    if approval.kind == PROTECTION:
        return True
    if "dataset" in approval.arguments:
        return bool(approval.arguments["dataset"] == str(gone.dataset.pk))
    return approval.subject in own or approval.subject not in every


def _names(approval: Approval, gone: GoneColumns) -> bool:
    return gone.are_in(approval.summary, approval.arguments, approval.answer)
