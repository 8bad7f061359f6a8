"""Spends and grants that a site wants a second person for (`dpportal.approvals`)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts.models import User
from dpportal.approvals import acts, services
from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalQuestion
from dpportal.budgets.account_amounts import changed_lines
from dpportal.budgets.amounts import plain
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.ledger_lines import LINE
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets.models import Dataset
from dpportal.history import watched
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import KNOWN_TABLES, SPENDS
from mechanisms.accounting import Definition


@dataclass(frozen=True)
class Spender:
    """What is confirmed of a room's drafts. plan: makes a draft's plan. request: reserves and queues.

    refusals: why these may not.
    """

    drafts: type[ChargedPublication]
    plan: Callable[..., object]
    request: Callable[..., bool]
    refusals: tuple[type[Exception], ...]


Perform = Callable[[Approval], None]
_spenders: dict[str, Spender] = {}
_performers: dict[str, Perform] = {}


def declare(spender: Spender) -> None:
    """Called once by the room whose drafts these are, when it is made ready."""
    label = spender.drafts._meta.label_lower
    _spenders[label] = spender
    declare_performer(label, partial(_confirm_draft, spender))


def declare_performer(label: str, perform: Perform) -> None:
    """What is done with an approved spend whose arguments name this label as `draft`. Raises OutdatedError."""
    _performers[label] = perform


def spender_of(draft: ChargedPublication) -> Spender:
    """What the draft's room declared."""
    return _spenders[draft._meta.label_lower]


def keys_of_drafts(dataset: Dataset | None = None) -> Iterator[str]:
    """Of all drafts of a dataset, or of all that there are, and of what became of them."""
    of_it = {"dataset": dataset} if dataset else {}
    for spender in _spenders.values():
        yield from map(str, spender.drafts._default_manager.filter(**of_it).values_list("pk", flat=True))


def exceeds(amount: Decimal, dataset: Dataset, definition: str) -> bool:
    """Whether a spend of so much needs a second person here, whoever spent the rest. definition: of ε or ρ."""
    if not acts.is_needed(SPENDS):
        return False
    if (spent := _spent_alone(dataset)) is None:
        return True
    spent[definition] = spent.get(definition, Decimal(0)) + amount
    shares = [_share(*line) for line in spent.items()]
    return None in shares or sum(filter(None, shares)) > 1


def _share(definition: str, amount: Decimal) -> Fraction | None:
    """Which part of its limit an amount is; none where nothing is allowed and something was spent."""
    most = settings.TWO_PEOPLE.rho if definition == Definition.ZCDP else settings.TWO_PEOPLE.epsilon
    if not most:
        return None if amount else Fraction(0)
    return Fraction(amount) / Fraction(most)


def _spent_alone(dataset: Dataset) -> dict[str, Decimal] | None:
    """What was spent, or is reserved, of the same people since the last charge that a second person approved, by the
    definition of its loss.

    Of all datasets bound together, so that many small spends need one as a large one does; of all definitions, so that
    a second one is no second allowance. None if that cannot be told: a line is not what the portal wrote.
    """
    approvals = Approval.objects.filter(kind=SPENDS, state=Approval.State.APPROVED)
    approved = {approval.subject: approval for approval in approvals}
    charges = LINE.rows().filter(kind=LedgerEntry.Kind.CHARGE, dataset__in=dataset.bound_together)
    lines = list(charges.order_by("-at", "-pk"))
    if changed_lines(lines):
        return None
    spent: dict[str, Decimal] = {}
    for line in lines:
        approval = approved.get(str(line.key))
        if approval and watched.is_written(approval):
            break
        if not line.is_void:
            definition = line.budget.definition
            spent[definition] = spent.get(definition, Decimal(0)) + line.amount
    return spent


def rule_text() -> str:
    """Which spends wait for a second person; empty where none does."""
    if not acts.is_needed(SPENDS):
        return ""
    text = _(
        "A spend waits for a second person where it, and all that was spent on its dataset since one approved a spend "
        "last, are more than ε %(epsilon)s or ρ %(rho)s together. Half of one and half of the other are as much as one."
    )
    return text % {"epsilon": plain(settings.TWO_PEOPLE.epsilon), "rho": plain(settings.TWO_PEOPLE.rho)}


def lacks_approval(amount: Decimal, dataset: Dataset, definition: Definition, key: uuid.UUID) -> bool:
    """Whether a spend for this draft needs a second person and has none."""
    return exceeds(amount, dataset, definition.value) and acts.approval_of(SPENDS, key) is None


def lacks_approval_of_grant(dataset_id: uuid.UUID) -> bool:
    """Whether a grant for a table that has a budget elsewhere needs a second person and has none."""
    return acts.is_needed(KNOWN_TABLES) and acts.approval_of(KNOWN_TABLES, dataset_id) is None


def missing_text() -> str:
    """Why nothing is spent or granted."""
    return _("Here this needs a second person: ask for one on the page where it is confirmed.")


@in_site_language
def with_name(reason: str, approval: Approval | None, longest: int = 300) -> str:
    """The reason of a ledger line, which also names who approved it."""
    if approval is None or approval.answered_by is None:
        return reason
    named = _(" (approved by %s)") % approval.answered_by.get_username()
    return reason[: longest - len(named)] + named


def asks_first(draft: ChargedPublication, budget: Budget) -> bool:
    """Whether confirming this draft asks for a second person, and spends nothing yet."""
    return draft.amount is not None and exceeds(draft.amount, draft.dataset, budget.definition)


@in_site_language
def ask_to_spend(draft: ChargedPublication, budget: Budget, reviewed: str, address: str, by: User) -> None:
    """Have what was reviewed wait for a second person. address: of the page with the review."""
    assert draft.amount is not None
    cost = f"{budget.symbol} {plain(draft.amount)}"
    named = getattr(draft, "title", "") or getattr(draft, "proposed_title", "") or getattr(draft, "name", "")
    arguments = {"draft": draft._meta.label_lower, "reviewed": reviewed}
    summary, recorded = texts(cost, draft.dataset, named, draft.pk)
    services.ask(ApprovalQuestion(SPENDS, draft.pk, summary, address, arguments, recorded), by)


def texts(cost: str, dataset: Dataset, title: str, key: object) -> tuple[str, str]:
    """What a second person reads of a spend, and what the record says, which has the draft's key for its title."""
    return _summary(cost, dataset, title), _summary(cost, dataset, str(key))


def _summary(cost: str, dataset: Dataset, title: str) -> str:
    text = _("Spend %(cost)s of “%(dataset)s” on “%(title)s”.")
    return text % {"cost": cost, "dataset": dataset.name, "title": title}


def _spend(approval: Approval) -> None:
    _performers[approval.arguments["draft"]](approval)


def _confirm_draft(spender: Spender, approval: Approval) -> None:
    draft = spender.drafts._default_manager.filter(pk=approval.subject).first()
    if draft is None:
        raise OutdatedError(_("The draft was deleted."))
    try:
        is_new = spender.request(draft, reviewed=approval.arguments["reviewed"], by=approval.by)
    except spender.refusals as refusal:
        raise OutdatedError(str(refusal)) from None
    if not is_new:
        raise OutdatedError(_("It was confirmed before."))


def _plan(approval: Approval) -> None:
    """Plan what was asked for; why that is not possible is told when it is approved."""
    spender = _spenders.get(approval.arguments.get("draft", ""))
    draft = spender and spender.drafts._default_manager.filter(pk=approval.subject).first()
    if spender and draft:
        with suppress(*spender.refusals):
            spender.plan(draft)


SPEND = Act(SPENDS, gettext_lazy("Spend of a budget"), _spend, _plan)
