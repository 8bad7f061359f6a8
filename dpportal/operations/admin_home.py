"""The administrators' home: who waits for a budget, whose the datasets are, and how the portal is."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.budgets import requests
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets.models import Dataset
from dpportal.operations import health, restore_check
from dpportal.platform.json_types import Json

PAGE_SIZE = 25


@administrator_required
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What waits for an administrator, all datasets, and what is wrong with the portal."""
    context: Json = {
        "waiting": requests.waiting(),
        "page_obj": Paginator(_datasets(), PAGE_SIZE).get_page(request.GET.get("page")),
        "troubles": [*health.measured().troubles, *restore_check.lasting_troubles()],
        "nav_section": "office",
    }
    return render(request, "office.html", context)


@administrator_required
@require_POST
def decline(request: HttpRequest, request_id: int) -> HttpResponse:
    """Refuse a budget, with a reason that its curator is told."""
    waiting = get_object_or_404(BudgetRequest, pk=request_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say in a sentence why; the curator sees it."))
    elif requests.decline(waiting, form.cleaned_data["reason"], current_user(request)):
        messages.success(request, _("Declined. The curator hears of it."))
    else:
        messages.info(request, _("This question was answered meanwhile."))
    return redirect("office")


def _datasets() -> QuerySet[Dataset]:
    """All datasets, those where something happened lately first."""
    public = Q(releases__published_at__isnull=False, releases__withdrawn_at=None)
    listed = Dataset.objects.with_states().select_related("owner").prefetch_related("shares__person")
    counted = listed.annotate(
        last_release=Max("releases__created_at"), published=Count("releases", filter=public, distinct=True)
    )
    return counted.order_by("-last_release", "-created_at")
