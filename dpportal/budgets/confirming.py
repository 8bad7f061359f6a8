"""The one way from a draft to its charge, for a release as for a running count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.approvals import services as approvals
from dpportal.budgets import ledger, refusals, requests, second_person
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets import services as datasets
from dpportal.datasets.access import require_releaser
from dpportal.datasets.domain_fit import mostly_misfits, shown_warnings
from dpportal.datasets.frozen_declarations import freeze
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.platform.json_types import Json
from dpportal.platform.two_people import SPENDS
from dpportal.publications.confirmation import ConfirmForm
from mechanisms.accounting import Loss


@dataclass(frozen=True)
class ShownPlan:
    """What a review shows: the digest of its plan. is_useless: whether it says that the result is expected to be."""

    plan: str
    is_useless: bool = False


def review_form(
    posted: QueryDict | None, by: User, draft: ChargedPublication, shown: ShownPlan
) -> ConfirmForm:
    """The form under a reviewed draft. posted: the answer that was sent."""
    form = ConfirmForm(
        posted,
        shown.plan,
        identifying=columns_to_ask_about(draft.dataset),
        misfits=mostly_misfits(draft.dataset, draft.counted_columns, by),
        is_useless=shown.is_useless,
    )
    if "nevertheless" in form.errors:
        audit.record(by, "viewed the fit", draft.dataset)
    return form


def is_to_be_spent(form: ConfirmForm, by: User, draft: ChargedPublication, shown: ShownPlan) -> bool:
    """Whether the answer confirms that the budget is spent now; where a second person is wanted, one is asked for.

    Raises BudgetRefusedError.
    """
    if not form.is_valid():
        return False
    if identifying := columns_to_ask_about(draft.dataset):
        datasets.confirm_one_row(draft.dataset, identifying, by)
    if not second_person.asks_first(draft, Budget.for_planning(draft.dataset)):
        return True
    _ask(draft, form.digest_read == shown.plan, form.digest_read, by)
    return False


def _ask(draft: ChargedPublication, is_read: bool, reviewed: str, by: User) -> None:
    """Ask for a second person, for what could be paid now. Raises BudgetRefusedError."""
    budget = Budget.for_planning(draft.dataset)
    assert draft.amount is not None
    if why := _why_ask(budget, draft.amount):
        raise ledger.BudgetRefusedError(why)
    if not is_read:
        text = _("The declaration or the method changed since you reviewed it. Read the review again.")
        raise ledger.BudgetRefusedError(text)
    address = reverse(f"{draft._meta.app_label}:review", args=[draft.pk])
    second_person.ask_to_spend(draft, budget, reviewed, address, by)


def waits(draft: ChargedPublication) -> bool:
    """Whether a confirmed draft waits for a second person."""
    latest = approvals.latest(SPENDS, draft.pk)
    return latest is not None and latest.is_waiting


def review_context(by: User, draft: ChargedPublication, budget: Budget, columns: Sequence[str]) -> Json:
    """The context that every review shows with the plan.

    by: whoever reviews, for whose eyes warnings of the fit are.
    budget: the paying one, perhaps not granted yet. columns: those that are read. "why_ask" says why a draft cannot be
    paid for and has to be asked for; empty where it can.
    """
    assert draft.amount is not None
    return {
        "second_person": approvals.latest(SPENDS, draft.pk),
        "second_person_rule": second_person.rule_text(),
        "needs_second_person": second_person.asks_first(draft, budget),
        "why_ask": _why_ask(budget, draft.amount),
        "budget_request": draft.dataset.budget_requests.first(),
        "identifying": columns_to_ask_about(draft.dataset),
        "fit_warnings": shown_warnings(draft.dataset, columns, by),
        "left_after": budget.left - draft.amount,
    }


def _why_ask(budget: Budget, amount: Decimal) -> str:
    if not budget.is_granted:
        return refusals.missing_text(budget.dataset)
    return refusals.shortage_text(budget, amount) if amount > budget.left else ""


def lock(draft: ChargedPublication, by: User, refused: type[Exception]) -> None:
    """No one edits the draft or the domain between a plan and the moment they are frozen, in this transaction."""
    draft.refresh_from_db(from_queryset=type(draft)._default_manager.select_for_update())
    require_releaser(draft.dataset, by.pk, refused)
    datasets.lock_dataset(draft.dataset)


def reserve(
    draft: ChargedPublication, loss: Loss, version: DomainVersion, *, reason: str, by: User
) -> LedgerEntry:
    """Set the cost of a draft aside and freeze the domain it rests on. Raises BudgetRefusedError."""
    assert draft.amount is not None
    booking = ledger.Booking(draft.pk, reason, loss.unit.total_public)
    charge = ledger.reserve(draft.dataset, draft.amount, booking, definition=loss.definition, by=by)
    freeze(version, ledger.BudgetRefusedError)
    requests.answer_was_read(draft.dataset, str(draft.pk), by)
    return charge


def require_all_charges(dataset: Dataset, refused: type[Exception]) -> None:
    """Where the ledger lacks a charge, as after a restore, a page would tell too little of what was spent."""
    try:
        ledger.require_complete(dataset)
    except ledger.BudgetOnHoldError as fault:
        raise refused(str(fault)) from None
