"""A change of who is protected after a budget was spent on others, which may need a second person."""

from __future__ import annotations

from dataclasses import replace

from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.approvals import acts, services as approvals
from dpportal.approvals.services import ApprovalQuestion
from dpportal.datasets.models import Dataset
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
