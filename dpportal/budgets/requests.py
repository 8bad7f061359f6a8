"""Curators ask for budgets; administrators grant or decline; each hears of the other at the bell and by mail."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from dpportal.accounts import audit, mailing
from dpportal.accounts.models import User
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets.access import right_of
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.services import lock_dataset
from dpportal.notices.announcing import announce
from dpportal.notices.events import Event, EventKind
from dpportal.platform.stored_texts import in_site_language

RequestState = BudgetRequest.State


@dataclass(frozen=True)
class PricedDraft:
    """A draft or choice of values as administrators see it before they grant: what it costs, how wrong it will be.

    amount: of ε or ρ, as definition says; None where none was chosen. margin: in words of the language in which it is
    read, empty where none can be said. address: where its curator goes on with it. delta: of δ besides.
    """

    title: str
    amount: Decimal | None
    definition: str
    margin: str | Promise
    address: str
    delta: Decimal = Decimal(0)


@in_site_language
@transaction.atomic
def ask(dataset: Dataset, reason: str, by: User, draft: PricedDraft | None = None) -> bool:
    """Ask the administrators for a budget. Returns whether it is a new question: one that waits is left as it is.

    draft: what it is to pay for, if that is planned already.
    """
    lock_dataset(dataset)
    if dataset.budget_requests.filter(state=RequestState.WAITING).exists():
        return False
    planned = {**asdict(draft), "margin": str(draft.margin)} if draft else {}
    request = BudgetRequest.objects.create(dataset=dataset, by=by, reason=reason, **planned)
    audit.record(by, "asked for a budget", dataset, request.cost)
    administrators = User.objects.administrators().exclude(email="")
    mailing.write(
        administrators.values_list("email", flat=True), _("A budget is asked for"), _request_text(request)
    )
    return True


def _request_text(request: BudgetRequest) -> str:
    """The mail to administrators."""
    text = _("%(curator)s asks for a privacy budget for the dataset “%(dataset)s”: %(reason)s")
    words = {
        "curator": request.by.get_username(),
        "dataset": request.dataset.name,
        "reason": request.reason,
    }
    if not request.cost:
        return text % words
    draft = _("It is for “%(title)s”, which costs %(cost)s. %(margin)s")
    priced = {"title": request.title, "cost": request.cost, "margin": request.margin}
    return f"{text % words}\n\n{(draft % priced).strip()}"


@in_site_language
def answer_by_grant(request: BudgetRequest, granted: str, reason: str) -> bool:
    """Say yes, in the transaction of a grant, which holds the dataset. Returns whether the question still waited.

    granted: how much, such as ε = 0.50, which need not be what was asked for.
    """
    answer = _("%(granted)s granted. %(reason)s") % {"granted": granted, "reason": reason}
    return _answer(_waiting(request), RequestState.GRANTED, answer)


@in_site_language
def announce_grant(dataset: Dataset, granted: str, reason: str) -> None:
    """Have the owner hear of a grant that nobody asked for, in its transaction."""
    text = _("The dataset “%(dataset)s”: %(granted)s. %(reason)s")
    sentence = text % {"dataset": dataset.name, "granted": granted, "reason": reason}
    announce_decision(
        dataset, RequestState.GRANTED, [dataset.owner], Words(_("A budget is granted"), sentence)
    )


def waits(request: BudgetRequest) -> bool:
    """Whether nobody has answered it yet; final while its dataset is held."""
    return waiting().filter(pk=request.pk).exists()


def answered_text() -> str:
    """Why a grant is refused whose question somebody else has answered."""
    return _(
        "This request was answered meanwhile, so nothing is granted. Save once more without a request to grant beside "
        "that answer."
    )


@in_site_language
@transaction.atomic
def decline(request: BudgetRequest, reason: str, by: User) -> bool:
    """Say no, with a reason. Returns whether the question still waited."""
    lock_dataset(request.dataset)
    done = _answer(_waiting(request), RequestState.DECLINED, reason)
    if done:
        audit.record(by, "declined a budget", request.dataset, reason)
    return done


def answer_was_read(dataset: Dataset, address: str, by: User) -> None:
    """Whoever asked sees the page again whose address has this part, and so knows what was answered."""
    answered_ones = dataset.budget_requests.filter(by=by, address__contains=address, seen=False)
    answered_ones.exclude(answered_at=None).update(seen=True)


def waiting() -> QuerySet[BudgetRequest]:
    """The questions that nobody has answered, the oldest first; none of records that were deleted since."""
    requests = BudgetRequest.objects.filter(state=RequestState.WAITING).exclude(
        dataset__state=Dataset.State.ERASED
    )
    return requests.select_related("dataset__owner", "by").order_by("at")


def answered(person: User) -> QuerySet[BudgetRequest]:
    """The answers to this curator's questions, of datasets that are still theirs."""
    datasets = Dataset.objects.open_to(person, Right.OWN)
    own = BudgetRequest.objects.filter(by=person, dataset__in=datasets).exclude(state=RequestState.WAITING)
    return own.select_related("dataset").order_by("-answered_at")


def news(user: User) -> int:
    """How many questions or answers ring this person's bell."""
    if user.is_administrator:
        return waiting().count()
    return answered(user).filter(seen=False).count() if user.is_curator else 0


def _waiting(request: BudgetRequest) -> QuerySet[BudgetRequest]:
    """The question, where nobody has answered it yet."""
    return BudgetRequest.objects.filter(pk=request.pk, state=RequestState.WAITING)


def _answer(requests: QuerySet[BudgetRequest], state: RequestState, answer: str) -> bool:
    request = requests.select_related("by", "dataset__owner").first()
    if request is None:
        return False
    requests.filter(pk=request.pk).update(state=state, answer=answer, answered_at=Now(), seen=False)
    subject = _("Your budget is granted") if state == RequestState.GRANTED else _("No budget is granted")
    text = _("The answer for the dataset “%(dataset)s”: %(answer)s")
    words = {"dataset": request.dataset.name, "answer": answer}
    # Somebody whose right was taken back meanwhile hears nothing more of the dataset.
    still_owns = right_of(request.by, request.dataset) >= Right.OWN
    recipient = request.by if still_owns else request.dataset.owner
    announce_decision(request.dataset, state, [recipient], Words(subject, text % words))
    return True


class Words(NamedTuple):
    """What a mail says."""

    subject: str
    text: str


def announce_decision(dataset: Dataset, state: RequestState, people: list[User], words: Words) -> None:
    """Have people hear that a budget of a dataset was granted or declined; programs are not told how much."""
    data = {"dataset": str(dataset.pk), "decision": state.value}
    path = reverse("budgets:ledger", args=[dataset.pk])
    announce(Event(EventKind.BUDGET, data, path, *words), people)
