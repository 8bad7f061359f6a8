"""A change of who is protected after a budget was spent on others, which may need a second person."""

from __future__ import annotations

from dataclasses import replace

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts.models import User
from dpportal.approvals import acts, services as approvals
from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalQuestion
from dpportal.datasets.access import right_of
from dpportal.datasets.identifying import identifying_columns
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.protection import Protection
from dpportal.platform.json_types import Json
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import PROTECTION


def asks_first(dataset: Dataset, now: Protection) -> bool:
    """Whether this is another protection than that of a dataset with a promise, and this site wants a second person."""
    if not acts.is_needed(PROTECTION) or Protection.of(dataset.current_domain()) == now:
        return False
    return any(budget.is_fixed for budget in dataset.budgets.all())


def lacks_approval(dataset: Dataset, now: Protection) -> bool:
    """Whether it needs a second person and has none."""
    return asks_first(dataset, now) and acts.approval_of(PROTECTION, dataset.pk) is None


@in_site_language
def ask(dataset: Dataset, declared: Json, now: Protection, by: User) -> None:
    """Have a declaration of who is protected wait. declared: the fields of the form."""
    before = Protection.of(dataset.current_domain())
    summary, recorded = (
        _summary(dataset, *pair) for pair in ((now, before), _by_place(dataset, now, before))
    )
    address = reverse("datasets:unit", args=[dataset.pk])
    arguments = {"declared": declared, "before": str(before)}
    approvals.ask(ApprovalQuestion(PROTECTION, dataset.pk, summary, address, arguments, recorded), by)


def _summary(dataset: Dataset, now: Protection, before: Protection) -> str:
    text = _("Protect %(now)s in “%(dataset)s”, where it was %(before)s.")
    return text % {"now": now, "dataset": dataset.name, "before": before}


def _by_place(dataset: Dataset, *protections: Protection) -> tuple[Protection, ...]:
    """The same for the record, where columns are named by their place: names may be values."""
    places = {column["name"]: f"#{place}" for place, column in enumerate(dataset.columns, 1)}
    return tuple(
        replace(each, unit_column=places.get(each.unit_column, each.unit_column)) for each in protections
    )


@in_site_language
def _change(approval: Approval) -> None:
    from dpportal.datasets import services  # which asks this module whether it may

    dataset = Dataset.objects.filter(pk=approval.subject).first()
    still_may = approval.by.is_active and approval.by.is_curator
    if dataset is None or not still_may or right_of(approval.by, dataset) < Right.OWN:
        raise OutdatedError(_("Whoever asked does not own this dataset any more."))
    services.lock_dataset(dataset)
    declared = approval.arguments["declared"]
    columns = ["", *(c["name"] for c in dataset.columns)]
    is_as_before = str(Protection.of(dataset.current_domain())) == approval.arguments["before"]
    if not is_as_before or (declared["unit_column"] not in columns and not dataset.is_tableless):
        raise OutdatedError(_("The declaration has changed since this was asked for."))
    services.declare_unit(dataset, **declared, by=approval.by)
    identifying = identifying_columns(dataset)
    if identifying and not declared["unit_column"]:
        services.confirm_one_row(dataset, identifying, approval.by)


CHANGE = Act(PROTECTION, gettext_lazy("Change of who is protected"), _change)
