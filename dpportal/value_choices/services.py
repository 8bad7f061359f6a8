"""What a curator can ask of a choice of values: what it would cost, and that it is made."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from django.db import transaction
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.accounts.models import User
from dpportal.budgets import ledger, refusals
from dpportal.budgets.confirmed import require_stored
from dpportal.budgets.models import Budget
from dpportal.datasets import services as datasets
from dpportal.datasets.access import require_declarer
from dpportal.datasets.declared import declared_of
from dpportal.datasets.frozen_declarations import freeze
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.publications.confirmation import ConfirmForm, digest
from dpportal.value_choices import lone_people
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical
from mechanisms.partition_selection import choosing
from mechanisms.partition_selection.choosing import ValueChoicePlan
from mechanisms.protocol import PlanError

CHANCES = (("1 %", Fraction(1, 100)), ("50 %", Fraction(1, 2)), ("99 %", Fraction(99, 100)))


class ChoiceError(Exception):
    """A choice that cannot be made now; the message says why and what to do."""


def why_not(dataset: Dataset, column: str) -> str:
    """Why the values of a column cannot be chosen privately; empty if they can. No record is read."""
    if dataset.is_remote:
        return _(
            "No text of a table that lies elsewhere comes to the portal; only counts do. So its values cannot be "
            "chosen here: declare those that are public."
        )
    if not dataset.has_rows:
        return _("The portal has no rows of this dataset, so there is nothing to choose from.")
    if dataset.asks_for_unit:
        return str(datasets.UNIT_FIRST)
    version = dataset.current_domain()
    if version is not None and version.unit_column == column:
        return _("This column names people: each of its values is one person's, so none may be published.")
    if not isinstance(declared_of(dataset).get(column), Categorical | None):
        return _("This column is declared already, and not as categories. Ignore it first, then choose.")
    return ""


def plan_of(dataset: Dataset, amount: Decimal, delta: Decimal) -> ValueChoicePlan:
    """What a choice at this cost would do; no record is read. amount: in what the budget counts. Raises ChoiceError."""
    version = dataset.current_domain() or DomainVersion(dataset=dataset)
    definition = Definition(Budget.for_planning(dataset).definition)
    loss = Loss(definition, Fraction(amount), version.unit, Fraction(delta))
    try:
        return choosing.plan(loss)
    except PlanError as refusal:
        raise ChoiceError(str(refusal)) from None


def why_unpaid(dataset: Dataset, plan: ValueChoicePlan) -> str:
    """Why the budget cannot pay for it now; empty if it can."""
    budget = Budget.of(dataset)
    amount, delta = costs(plan)
    if budget is None and not dataset.budgets.exists():
        text = _("%(name)s has no privacy budget yet. Ask the administrators for what this choice costs.")
        return text % {"name": dataset.name}
    if budget is not None and amount <= budget.left and delta <= budget.delta_left:
        return ""
    return refusals.refusal_text(dataset, amount, plan.loss.definition, delta)


def warning(dataset: Dataset, plan: ValueChoicePlan) -> str:
    """Why its δ is too large for about so many people as the curator estimated; empty if it is not."""
    return lone_people.warning(plan, dataset.releases.estimated_people())


def people_needed(plan: ValueChoicePlan) -> list[tuple[str, int]]:
    """At some chances of being kept, with how many people a value has it; by the cost alone."""
    return [(text, plan.people_for(chance)) for text, chance in CHANCES]


def costs(plan: ValueChoicePlan) -> tuple[Decimal, Decimal]:
    """Of ε or ρ, and of δ."""
    return _decimal(plan.loss.amount), _decimal(plan.loss.delta)


def _decimal(amount: Fraction) -> Decimal:
    return Decimal(amount.numerator) / Decimal(amount.denominator)


def reviewed_as(dataset: Dataset, column: str, plan: ValueChoicePlan) -> str:
    """The digest of what a curator reviews."""
    version = dataset.current_domain()
    return digest(plan, {"column": column, "declared": version.declared() if version else {}})


REFUSALS = (ChoiceError, ledger.BudgetRefusedError)


def review_form(posted: QueryDict | None, dataset: Dataset, shown: str) -> ConfirmForm:
    """The form under a plan. posted: the answer that was sent. shown: the digest of what this page shows."""
    return ConfirmForm(posted, shown, identifying=columns_to_ask_about(dataset))


def is_confirmed(form: ConfirmForm, dataset: Dataset, by: User) -> bool:
    """Whether the answer confirms the plan; that each person has one row is then noted, if it was asked."""
    if not form.is_valid():
        return False
    if identifying := columns_to_ask_about(dataset):
        datasets.confirm_one_row(dataset, identifying, by)
    return True


@transaction.atomic
def request(
    dataset: Dataset, column: str, plan: ValueChoicePlan, *, reviewed: str, by: User, key: UUID | None = None
) -> ValueChoice:
    """Reserve the budget and queue the job. reviewed: the digest of what the curator read.

    key: the id of the choice, where a second person has approved it. Raises ChoiceError or BudgetRefusedError.
    """
    require_possible(dataset, column, plan, reviewed=reviewed, by=by)
    datasets.freeze_parse_options(dataset)
    version = dataset.current_domain() or datasets.editable_domain(dataset)
    choice = ValueChoice(dataset=dataset, column=column, domain_version=version, created_by=by)
    choice.pk = key or choice.pk
    return _reserved(choice, plan)


def require_possible(
    dataset: Dataset, column: str, plan: ValueChoicePlan, *, reviewed: str, by: User
) -> None:
    """Raises ChoiceError or BudgetRefusedError unless this choice can be made now. Holds the dataset."""
    require_declarer(dataset, by.pk, ChoiceError)
    datasets.lock_dataset(dataset)
    amount, delta = costs(plan)
    if reviewed_as(dataset, column, plan) != reviewed or plan != plan_of(dataset, amount, delta):
        raise ChoiceError(_("The declaration changed since you read this page. Read it again."))
    if reason := why_not(dataset, column):
        raise ChoiceError(reason)
    datasets.require_ready(dataset, ChoiceError)
    if is_running(dataset, column):
        raise ChoiceError(_("The values of this column are being chosen already."))
    if why := why_unpaid(dataset, plan):
        raise ledger.BudgetRefusedError(why)


def _reserved(choice: ValueChoice, plan: ValueChoicePlan) -> ValueChoice:
    amount, delta = costs(plan)
    by, dataset = choice.created_by, choice.dataset
    booking = ledger.Booking(choice.pk, choice.stored_title, delta=delta)
    choice.plan_json = plan.to_json()
    choice.charge = ledger.reserve(dataset, amount, booking, definition=plan.loss.definition, by=by)
    freeze(choice.domain_version, ChoiceError)
    choice.save()
    require_stored(ValueChoice, choice.pk, plan.to_json(), ChoiceError)
    audit.record(by, "chose values privately", dataset, _named(choice, plan))
    CHOICES.hint_on_commit(choice.pk)
    return choice


def _named(choice: ValueChoice, plan: ValueChoicePlan) -> str:
    return clause(gettext_noop("choice %(id)s, %(loss)s"), id=choice.pk, loss=plan.loss)


def choice_of(dataset: Dataset, choice_id: UUID) -> ValueChoice:
    """A choice of the dataset's, with its cost. Raises Http404 if there is none."""
    choices = ValueChoice.objects.select_related("charge__budget", "domain_version")
    return get_object_or_404(choices, pk=choice_id, dataset=dataset)


def is_running(dataset: Dataset, column: str) -> bool:
    """Whether a choice of this column's values waits or is being made."""
    return ValueChoice.objects.filter(
        dataset=dataset, column=column, state__in=("queued", "running")
    ).exists()
