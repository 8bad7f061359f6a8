"""Choices of values that a site wants a second person for: they wait, and are made once somebody approved them."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.approvals import services as approvals
from dpportal.approvals.acts import OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalQuestion
from dpportal.budgets import second_person
from dpportal.budgets.amounts import plain, with_delta
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets.models import Dataset
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import SPENDS
from dpportal.value_choices import prices, services
from dpportal.value_choices.models import ValueChoice, stored_title
from dpportal.value_choices.services import ChoiceError
from mechanisms.partition_selection.choosing import ValueChoicePlan

LABEL = ValueChoice._meta.label_lower


def asks_first(dataset: Dataset, plan: ValueChoicePlan) -> bool:
    """Whether confirming this choice asks for a second person, and spends nothing yet."""
    amount, _delta = services.costs(plan)
    return second_person.exceeds(amount, dataset, plan.loss.definition.value)


def latest(dataset: Dataset, column: str) -> Approval | None:
    """The last request for a choice of this column's values, whatever became of it."""
    return approvals.latest_with(SPENDS, draft=LABEL, dataset=str(dataset.pk), column=column)


@transaction.atomic
def ask(dataset: Dataset, column: str, plan: ValueChoicePlan, *, reviewed: str, by: User) -> Approval:
    """Have a choice wait that could be made now. One that waits for the same column is replaced.

    reviewed: the digest of what the curator read. Raises ChoiceError or BudgetRefusedError.
    """
    services.require_possible(dataset, column, plan, reviewed=reviewed, by=by)
    before = latest(dataset, column)
    # Its subject becomes the id of the choice, and so of its charge.
    subject = before.subject if before and before.is_waiting else uuid4()
    return approvals.ask(_question(dataset, column, plan, reviewed, str(subject)), by)


@in_site_language
def _question(
    dataset: Dataset, column: str, plan: ValueChoicePlan, reviewed: str, subject: str
) -> ApprovalQuestion:
    amount, delta = services.costs(plan)
    cost = with_delta(f"{plan.loss.symbol} {plain(amount)}", delta)
    arguments = {
        "draft": LABEL,
        "dataset": str(dataset.pk),
        "column": column,
        "amount": plain(amount),
        "delta": plain(delta),
        "reviewed": reviewed,
    }
    summary, recorded = second_person.texts(cost, dataset, stored_title(column), subject)
    return ApprovalQuestion(
        SPENDS, subject, summary, prices.address_of(dataset, column, plan), arguments, recorded
    )


def perform(approval: Approval) -> None:
    """Make an approved choice. Raises OutdatedError."""
    arguments = approval.arguments
    dataset = Dataset.objects.filter(pk=arguments["dataset"]).first()
    if dataset is None:
        raise OutdatedError(_("The dataset was deleted."))
    try:
        plan = services.plan_of(dataset, Decimal(arguments["amount"]), Decimal(arguments["delta"]))
        services.request(
            dataset,
            arguments["column"],
            plan,
            reviewed=arguments["reviewed"],
            by=approval.by,
            key=UUID(approval.subject),
        )
    except (ChoiceError, BudgetRefusedError) as refusal:
        raise OutdatedError(str(refusal)) from None
