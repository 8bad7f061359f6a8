"""That a dataset is counted from what its connection leads to now, which may need a second administrator."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts.models import User
from dpportal.approvals import acts, services as approvals
from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalError, ApprovalQuestion
from dpportal.datasets import attach_table
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import FOLLOWED
from dpportal.tables.faults import SourceFault


def follow_or_ask(dataset: Dataset, by: User, *, mark: str, reason: str) -> bool:
    """Follow the table, or have that wait where this site wants a second person; whether it was done.

    mark, reason: as for `attach_table.follow`. Raises DatasetError and SourceFault as that does.
    """
    if acts.is_needed(FOLLOWED):
        _ask(dataset, by, mark, reason)
        return False
    attach_table.follow(dataset, by, mark=mark, reason=reason)
    return True


@in_site_language
def _ask(dataset: Dataset, by: User, mark: str, reason: str) -> None:
    seen = attach_table.seen_difference(dataset, mark, reason)
    text = _("Count “%(dataset)s” where its connection leads now: %(changes)s. Reason: %(reason)s")
    changes = "; ".join(seen.lines) or _("nothing changed")
    summary = text % {"dataset": dataset.name, "changes": changes, "reason": reason.strip()}
    address = reverse("admin:datasets_dataset_change", args=[dataset.pk])
    approvals.ask(
        ApprovalQuestion(FOLLOWED, dataset.pk, summary, address, {"mark": mark, "reason": reason.strip()}), by
    )


@in_site_language
def _follow(approval: Approval) -> None:
    """What does not answer now can be approved again later."""
    dataset = Dataset.objects.filter(pk=approval.subject).first()
    if dataset is None or not (approval.by.is_active and approval.by.is_administrator):
        raise OutdatedError(_("The dataset is gone, or whoever asked is no administrator any more."))
    try:
        attach_table.follow(dataset, approval.by, **approval.arguments)
    except DatasetError as refusal:
        raise OutdatedError(str(refusal)) from None
    except SourceFault as fault:
        raise ApprovalError(str(fault)) from None


FOLLOW = Act(FOLLOWED, gettext_lazy("Another definition of a connected table"), _follow)
