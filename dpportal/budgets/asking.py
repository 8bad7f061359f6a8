"""Asking for a budget, for a dataset or for one draft of it: by a program, or on a page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts.models import User
from dpportal.accounts.permissions import current_user
from dpportal.budgets import requests
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.models import BudgetRequest
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets.models import Dataset

# In the address of a review that loaded itself again.
BY_ITSELF = "answered"
ALREADY_REQUESTED = gettext_noop("A budget is asked for already; the administrators have not answered yet.")


class AskRefusedError(Exception):
    """A question that this person cannot ask, or not of this dataset; the message says why."""


def ask(dataset: Dataset, reason: ReasonForm, by: User, draft: PricedDraft | None = None) -> bool:
    """Send a valid reason to the administrators, with what a draft costs; False where a question waits already.

    Raises AskRefusedError. Owners alone may ask.
    """
    if not dataset.can_own:
        raise AskRefusedError(_("Only an owner of this dataset can ask for a budget."))
    if dataset.state == Dataset.State.ERASED:
        raise AskRefusedError(_("The records are deleted, so there is nothing to spend a budget on."))
    return requests.ask(dataset, reason.cleaned_data["reason"], by, draft)


def send(request: HttpRequest, dataset: Dataset, draft: PricedDraft | None = None) -> HttpResponseBase:
    """The page's side: send the sentence that was posted, and say what became of it."""
    form = ReasonForm(request.POST)
    if dataset.can_own and not form.is_valid():
        messages.error(request, _("Say in a sentence what the budget is for; administrators see it."))
        return redirect(draft.address) if draft else redirect("datasets:home", dataset.pk)
    try:
        is_new = ask(dataset, form, current_user(request), draft)
    except AskRefusedError as refusal:
        messages.error(request, str(refusal))
    else:
        if is_new:
            messages.success(request, _("Request sent. You'll see the answer under the bell."))
        else:
            messages.info(request, _(ALREADY_REQUESTED))
    return redirect(draft.address) if draft else redirect("datasets:home", dataset.pk)


def awaited(request: HttpRequest, dataset: Dataset, review: str) -> HttpResponseBase:
    """What a review that waits for an answer asks for now and then: whether to load itself again.

    review: its address. Loaded by itself it says so, since perhaps nobody sits before it: see `note_read`.
    """
    if not getattr(request, "htmx", False):
        return redirect(review)
    if dataset.budget_requests.filter(state=BudgetRequest.State.WAITING).exists():
        return HttpResponse(status=204)
    return HttpResponse(headers={"HX-Redirect": f"{review}{'&' if '?' in review else '?'}{BY_ITSELF}=1"})


def note_read(request: HttpRequest, dataset: Dataset, address: str) -> None:
    """Whoever asked opens the page again whose address has this part, and so knows what was answered."""
    if BY_ITSELF not in request.GET:
        requests.answer_was_read(dataset, address, current_user(request))
