"""Where an administrator grants a budget, seeing what it is for and what it means, or takes a part back."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dpportal.accounts.models import User
from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.budgets import approved_grants, odds, requests
from dpportal.budgets.amounts import plain
from dpportal.budgets.forms import GrantAmountForm, GrantForm, ReductionForm, protection_digest
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget, BudgetRequest
from dpportal.budgets.odds import Odds
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.publications import cost
from dpportal.publications.search_progress import from_workers
from dpportal.publications.steps import UNPROCESSABLE
from dpportal.releases import prices as release_prices
from dpportal.streams import prices as stream_prices
from dpportal.streams.models import Stream
from mechanisms.accounting import SYMBOL, Definition

# The page has two forms, which name their fields alike.
REDUCTION_IDS = "id_reduction_%s"
# Drafts that are planned for one page.
MOST_DRAFTS = 10


@administrator_required
@require_http_methods(["GET", "HEAD", "POST"])
@from_workers
def page(request: HttpRequest, dataset_id: UUID) -> HttpResponseBase:
    """The request, what it is for, what was granted before, and the grant."""
    dataset = get_object_or_404(Dataset, pk=dataset_id)
    form = GrantForm(request.POST or None, dataset=dataset, initial=_requested_delta(dataset))
    by = current_user(request)
    if request.method == "POST" and _waits(form, by):
        messages.info(request, _("Asked for a second person. Nothing is granted before it is approved."))
        return redirect("office")
    if request.method == "POST" and _saved(form, by):
        _say_granted(request, form)
        return redirect("office")
    return _shown(request, dataset, form, ReductionForm(auto_id=REDUCTION_IDS, dataset=dataset))


@transaction.atomic
def _waits(form: GrantForm, by: User) -> bool:
    """Whether a valid grant needs a second person, who is asked for."""
    needs_approval = form.is_valid() and approved_grants.asks_first(form)
    if needs_approval:
        approved_grants.ask(form, by)
    return needs_approval


@transaction.atomic
def _saved(form: GrantForm | ReductionForm, by: User) -> bool:
    """Whether a form was valid and is written: its locks are held so long, and not while drafts are planned."""
    if not form.is_valid():
        return False
    try:
        form.save_as(by)
    except BudgetRefusedError as refusal:
        form.add_error(None, str(refusal))
        return False
    return True


def _say_granted(request: HttpRequest, form: GrantForm) -> None:
    """How much for which dataset, with the odds; where there is little protection left, as a warning."""
    now, granted = form.odds, form.cleaned_data
    say = messages.warning if now and now.is_warned else messages.success
    values = {
        "amount": f"{SYMBOL[Definition(granted['definition'])]} {plain(granted['amount'])}",
        "dataset": form.dataset.name,
        "odds": now.suspicion if now else "",
    }
    say(request, _("Granted %(amount)s for “%(dataset)s”. %(odds)s") % values)


@administrator_required
@require_POST
@from_workers
def reduction(request: HttpRequest, dataset_id: UUID) -> HttpResponseBase:
    """Take back what is neither spent nor reserved."""
    dataset = get_object_or_404(Dataset, pk=dataset_id)
    form = ReductionForm(request.POST, auto_id=REDUCTION_IDS, dataset=dataset)
    if _saved(form, current_user(request)):
        messages.success(request, _("Taken back. It is a line of the ledger."))
        return redirect("office")
    return _shown(request, dataset, GrantForm(dataset=dataset, initial=_requested_delta(dataset)), form)


@administrator_required
@require_GET
def meaning(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    """What the amount now in the form means for a person, with its warnings; nothing where it is no amount yet."""
    dataset = get_object_or_404(Dataset, pk=dataset_id)
    form = GrantAmountForm(request.GET, dataset=dataset)
    return render(request, "budgets/_odds.html", {"odds": form.odds})


def _shown(request: HttpRequest, dataset: Dataset, form: GrantForm, taking: ReductionForm) -> HttpResponse:
    account = Budget.for_planning(dataset)
    waiting = _request_of(dataset)
    amount = waiting.amount if waiting and waiting.definition == account.definition else None
    # What was asked for is chosen already; the administrator may choose otherwise.
    delta = waiting.delta if waiting else Decimal(0)
    begun = Odds.of(account, amount, form.accounts, delta) if amount and not form.is_bound else None
    drafts, more_drafts = _newest_drafts(dataset)
    context: Json = {
        "dataset": dataset,
        "asked": waiting,
        "account": account,
        "others": [b for b in dataset.budgets.all() if b.pk != account.pk],
        "drafts": drafts,
        "more_drafts": more_drafts,
        "symbol": account.symbol,
        "choices": odds.choices(account, amount, form.accounts),
        "chosen": plain(amount) if begun and amount else form["choice"].value(),
        "protects": protection_digest(dataset),
        "form": form,
        "odds": begun or form.odds,
        "published_choices": cost.CHOICES,
        "taking": taking,
        "is_pure": account.definition == Definition.PURE,
        "nav_section": "office",
    }
    wrong = form.errors or taking.errors
    return render(request, "budgets/grant.html", context, status=UNPROCESSABLE if wrong else 200)


def _request_of(dataset: Dataset) -> BudgetRequest | None:
    """The question that nobody has answered."""
    waiting: BudgetRequest | None = requests.waiting().filter(dataset=dataset).first()
    return waiting


def _requested_delta(dataset: Dataset) -> Json:
    """What the form begins with: the δ that was asked for is typed already."""
    waiting = _request_of(dataset)
    return {"delta": plain(waiting.delta)} if waiting and waiting.delta else {}


def _newest_drafts(dataset: Dataset) -> tuple[list[PricedDraft], int]:
    """So many drafts as can be planned while somebody waits, the newest first, and how many more there are."""
    releases = dataset.releases.drafts()
    streams = dataset.streams.filter(state=Stream.State.DRAFT).order_by("-changed_at")
    newest = [*releases[:MOST_DRAFTS], *streams[:MOST_DRAFTS]]
    newest.sort(key=attrgetter("changed_at"), reverse=True)
    priced = [
        stream_prices.of_draft(draft) if isinstance(draft, Stream) else release_prices.of_draft(draft)
        for draft in newest[:MOST_DRAFTS]
    ]
    return priced, releases.count() + streams.count() - len(priced)
