"""The page's side of asking for a budget, for a dataset or for one draft of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from dpportal.accounts.permissions import current_user
from dpportal.budgets import requests
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.models import BudgetRequest
from dpportal.budgets.requests import PricedDraft
from dpportal.datasets.models import Dataset


def send(request: HttpRequest, dataset: Dataset, draft: PricedDraft | None = None) -> HttpResponseBase:
    """Send the sentence that was posted to the administrators, with what a draft costs. Owners alone may ask."""
    form, person = ReasonForm(request.POST), current_user(request)
    if not dataset.can_own:
        messages.error(request, _("Only an owner of this dataset can ask for a budget."))
    elif not form.is_valid():
        messages.error(request, _("Say in a sentence what the budget is for; administrators see it."))
        return redirect(draft.address) if draft else redirect("datasets:home", dataset.pk)
    elif dataset.state == Dataset.State.ERASED:
        messages.error(request, _("The records are deleted, so there is nothing to spend a budget on."))
    elif requests.ask(dataset, form.cleaned_data["reason"], person, draft):
        messages.success(request, _("Request sent. You'll see the answer under the bell."))
    else:
        messages.info(request, _("A budget is asked for already; the administrators have not answered yet."))
    return redirect(draft.address) if draft else redirect("datasets:home", dataset.pk)


def awaited(request: HttpRequest, dataset: Dataset, review: str) -> HttpResponseBase:
    """What a review that waits for an answer asks for now and then: whether to load itself again.

    review: its address, for whoever comes without a script.
    """
    if not getattr(request, "htmx", False):
        return redirect(review)
    if dataset.budget_requests.filter(state=BudgetRequest.State.WAITING).exists():
        return HttpResponse(status=204)
    return HttpResponse(headers={"HX-Refresh": "true"})
